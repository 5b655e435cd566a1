package matrix

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Selection is a part of a plan's runs.
type Selection struct {
	plan *Plan
	glob string // empty: all
}

// Select returns the runs whose cell or ID the pattern matches, as path.Match does: ram-w1-*, *-pure-64, tuning-sd-*.
// An empty pattern selects all. A pattern that is malformed, or that matches no run and no gate, is an error.
func (p *Plan) Select(glob string) (*Selection, error) {
	s := &Selection{plan: p, glob: glob}
	if glob == "" {
		return s, nil
	}
	if _, err := path.Match(glob, ""); err != nil {
		return nil, fmt.Errorf("pattern %q: %w", glob, err)
	}
	var names []string
	for _, r := range s.all() {
		if s.Has(&r) {
			return s, nil
		}
		if !slices.Contains(names, r.Cell) {
			names = append(names, r.Cell)
		}
	}
	if len(s.Gates()) > 0 {
		return s, nil
	}
	for _, g := range p.Gates() {
		names = append(names, g.ID())
	}
	return nil, fmt.Errorf("pattern %q matches nothing in plan %s; close to it are %s; \"tpccbench plan\" lists all %d", glob, p.Name,
		strings.Join(closest(glob, names, maxSuggestions), ", "), len(names))
}

// maxSuggestions is the number of names that an error suggests.
const maxSuggestions = 5

// closest returns the n names that are nearest to the pattern by edit distance, the nearest first, and equal ones in
// name order. A star of the pattern stands for as many characters as it has to.
func closest(pattern string, names []string, n int) []string {
	near := slices.Sorted(slices.Values(names))
	slices.SortStableFunc(near, func(a, b string) int { return distance(pattern, a) - distance(pattern, b) })
	return near[:min(n, len(near))]
}

// distance is the number of characters to insert, delete or replace to make the name one that the pattern matches,
// where a star of the pattern costs nothing, whatever it stands for. Brackets count as the characters that they are.
func distance(pattern, name string) int {
	row := make([]int, len(name)+1) // of the part of the pattern so far, by length of the name's part
	for j := range row {
		row[j] = j
	}
	for i := range len(pattern) {
		diagonal := row[0]
		star := pattern[i] == '*'
		if !star {
			row[0]++
		}
		for j := 1; j <= len(name); j++ {
			above := row[j]
			switch {
			case star:
				row[j] = min(above, row[j-1])
			case pattern[i] == name[j-1] || pattern[i] == '?':
				row[j] = min(diagonal, above+1, row[j-1]+1)
			default:
				row[j] = 1 + min(diagonal, above, row[j-1])
			}
			diagonal = above
		}
	}
	return row[len(name)]
}

func (s *Selection) all() []Run { return append(s.plan.TuningRuns(), s.plan.MatrixRuns(nil)...) }

// Has says whether the run is selected.
func (s *Selection) Has(r *Run) bool { return s.matches(r.Cell) || s.matches(r.ID()) }

func (s *Selection) matches(name string) bool {
	if s.glob == "" {
		return true
	}
	ok, err := path.Match(s.glob, name)
	return ok && err == nil
}

// Filter returns the selected ones of runs, in their order and with their Order as it was.
func (s *Selection) Filter(runs []Run) []Run {
	var selected []Run
	for i := range runs {
		if s.Has(&runs[i]) {
			selected = append(selected, runs[i])
		}
	}
	return selected
}

// Gates returns the equality gates that the selection needs: those of each W of a selected run, and those whose ID the
// pattern matches.
func (s *Selection) Gates() []Gate {
	ws := map[int]bool{}
	for _, r := range s.all() {
		if s.Has(&r) {
			ws[r.W] = true
		}
	}
	var gates []Gate
	for _, g := range s.plan.Gates() {
		if ws[g.W] || s.matches(g.ID()) {
			gates = append(gates, g)
		}
	}
	return gates
}

// Tunings returns the names of the tunings whose chosen settings the selected runs of the matrix depend on.
func (s *Selection) Tunings() []string {
	var names []string
	for _, r := range s.Filter(s.plan.MatrixRuns(nil)) {
		if t, ok := s.plan.Tuning(r.Device, r.Engine); ok && !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

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
	return nil, fmt.Errorf("pattern %q matches nothing in plan %s; there are %s", glob, p.Name, strings.Join(names, ", "))
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

// Tunings returns the names of the devices whose chosen settings the selected runs of the matrix depend on.
func (s *Selection) Tunings() []string {
	var devices []string
	for _, r := range s.Filter(s.plan.MatrixRuns(nil)) {
		t, ok := s.plan.Tuning(r.Device)
		if ok && slices.Contains(t.AppliesTo, r.Engine) && !slices.Contains(devices, r.Device) {
			devices = append(devices, r.Device)
		}
	}
	return devices
}

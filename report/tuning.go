package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"tpccbench/matrix"
	"tpccbench/record"
)

// Tuning is a tuning of the plan: what was tried, and what the plan's rule chooses of it.
type Tuning struct {
	Name       string // the device's, unless the plan gives another
	Device     string
	Plan       *matrix.Tuning
	Candidates []TuningCandidate // in the order of the plan
	Choice     *matrix.Choice    // by the rule, recomputed from the raw records; nil if the rule cannot choose
	Lacks      string            // why it cannot; empty if there is a Choice
	Recorded   *matrix.Choice    // of choices.json; nil if it has none for the tuning
}

// title names the device, and the tuning where that has a name of its own.
func (t *Tuning) title() string {
	if t.Name == t.Device {
		return "Tuning on " + t.Device
	}
	return fmt.Sprintf("Tuning on %s: %s", t.Device, t.Name)
}

// TuningCandidate is a candidate with its runs.
type TuningCandidate struct {
	Name     string
	Settings map[string]string
	Eligible bool
	Chosen   bool
	Cells    []*Cell // one per engine and number of terminals, in the order of the plan; its rounds are the tuning's
}

// tune applies each tuning's rule to its runs that are results.
func (s *Study) tune() {
	results := map[string]float64{}
	for _, r := range s.Runs {
		if v, ok := r.Figures["tx_per_s"]; ok && r.Phase == record.PhaseTuning && s.Excluded(r.Name()) == "" {
			results[r.Name()] = v
		}
	}
	runs := s.Plan.TuningRuns()
	for i := range s.Plan.Tunings {
		p := &s.Plan.Tunings[i]
		t := &Tuning{Name: p.Name, Device: p.Device, Plan: p}
		if choice, err := p.Choose(results); err != nil {
			t.Lacks = err.Error()
		} else {
			t.Choice = &choice
		}
		for j := range p.Candidates {
			k := &p.Candidates[j]
			t.Candidates = append(t.Candidates, TuningCandidate{
				Name: k.Name, Settings: k.Settings, Eligible: k.Eligible, Chosen: t.Choice != nil && t.Choice.Candidate == k.Name,
				Cells: s.tuningCells(p, k, runs),
			})
		}
		s.Tunings = append(s.Tunings, t)
	}
}

// tuningCells are the candidate's cells in the order of the tuning's groups and terminals.
func (s *Study) tuningCells(t *matrix.Tuning, k *matrix.Candidate, runs []matrix.Run) []*Cell {
	var cells []*Cell
	for _, g := range t.Groups {
		for _, n := range g.Terminals {
			var c *Cell
			for _, run := range runs {
				if run.Tuning != t.Name || run.Candidate != k.Name || run.Engine != g.Engine || run.Terminals != n {
					continue
				}
				if c == nil {
					c = &Cell{Name: run.Cell, Label: run.Label, Engine: run.Engine, Settings: run.Settings, Device: run.Device, Kind: run.Kind,
						W: run.W, Terminals: n, Seconds: run.Seconds, WarmUpSeconds: run.WarmUpSeconds, Rounds: make([]Round, t.Rounds)}
					cells = append(cells, c)
				}
				c.Rounds[run.Round-1] = s.round(&run)
			}
		}
	}
	return cells
}

// checkChoices holds choices.json against what the rule chooses. It is not there before the tuning is done.
func (s *Study) checkChoices() error {
	b, err := os.ReadFile(s.path(choicesFile))
	if errors.Is(err, fs.ErrNotExist) {
		if slices.ContainsFunc(s.Tunings, func(t *Tuning) bool { return t.Choice != nil }) {
			s.problem(Missing, choicesFile, "the tuning's runs are there, what they chose is not")
		}
		return nil
	}
	if err != nil {
		return err
	}
	var recorded []matrix.Choice
	if err := json.Unmarshal(b, &recorded); err != nil {
		s.problem(Unreadable, choicesFile, "not JSON, or cut short: %v", err)
		return nil
	}
	for i := range recorded {
		c := &recorded[i]
		j := slices.IndexFunc(s.Tunings, func(t *Tuning) bool { return t.Name == c.TuningName() })
		if j < 0 {
			s.problem(Foreign, choicesFile, "it chooses for tuning %q, which is not in the plan", c.TuningName())
			continue
		}
		if s.Tunings[j].Recorded != nil {
			s.problem(Duplicated, choicesFile, "it chooses for tuning %q twice", c.TuningName())
		}
		s.Tunings[j].Recorded = c
	}
	for _, t := range s.Tunings {
		switch {
		case t.Recorded == nil && t.Choice != nil:
			s.problem(Missing, choicesFile, "nothing is chosen for tuning %s; the rule chooses %s", t.Name, t.Choice.Candidate)
		case t.Recorded != nil && t.Choice == nil:
			s.note("%s chooses %s for tuning %s, which cannot be checked: %s", choicesFile, t.Recorded.Candidate, t.Name, t.Lacks)
		case t.Recorded != nil:
			if what := choiceDifference(t.Recorded, t.Choice); what != "" {
				s.problem(Altered, choicesFile, "tuning %s: %s", t.Name, what)
			}
		}
	}
	return nil
}

// choiceDifference names the first difference of what is recorded from what the records give; empty: none.
func choiceDifference(recorded, given *matrix.Choice) string {
	if recorded.Candidate != given.Candidate {
		return fmt.Sprintf("candidate is %s; the raw records give %s", recorded.Candidate, given.Candidate)
	}
	for i := range min(len(recorded.Compared), len(given.Compared)) {
		a, b := &recorded.Compared[i], &given.Compared[i]
		for j := range min(len(a.TxPerS), len(b.TxPerS)) {
			if a.TxPerS[j] != b.TxPerS[j] {
				return fmt.Sprintf("tx_per_s of %s is %v; its raw record has %v", b.Runs[j], a.TxPerS[j], b.TxPerS[j])
			}
		}
	}
	x, errX := json.Marshal(recorded)
	y, errY := json.Marshal(given)
	if errX != nil || errY != nil || !sameJSON(x, y) {
		return fmt.Sprintf("it says %s; the raw records give %s", x, y)
	}
	return ""
}

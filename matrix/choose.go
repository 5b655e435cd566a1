package matrix

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Choice is the outcome of a tuning.
type Choice struct {
	Tuning    string            `json:"tuning,omitempty"` // its name; empty where it is the device's
	Device    string            `json:"device"`
	Candidate string            `json:"candidate"`
	Settings  map[string]string `json:"settings"`
	AppliesTo []string          `json:"applies_to"` // engines
	Rule      string            `json:"rule"`       // ChooseMeanTxPerS
	Over      string            `json:"over"`       // the engine whose runs were compared
	Compared  []Compared        `json:"compared"`   // in the order of the plan
}

// Compared is what the rule saw of one candidate.
type Compared struct {
	Candidate string    `json:"candidate"`
	Runs      []string  `json:"runs"`         // IDs
	TxPerS    []float64 `json:"tx_per_s"`     // of Runs
	TxPerSAvg float64   `json:"tx_per_s_avg"` // the compared figure: their mean
}

// Choose applies the tuning's rule. results holds tx_per_s by the ID of the run, of runs that passed their gates only.
// A run that the rule needs and that is not there is an error: then nothing can be chosen. Runs that the rule does not
// count (of other engines, of candidates that are not eligible) need not be there. Of equal candidates the first in
// the plan is chosen.
func (t *Tuning) Choose(results map[string]float64) (Choice, error) {
	c := Choice{Tuning: t.Name, Device: t.Device, AppliesTo: slices.Clone(t.AppliesTo), Rule: t.ChooseBy, Over: t.ChooseOver}
	if c.Tuning == c.Device {
		c.Tuning = ""
	}
	var lacking []string
	best := math.Inf(-1)
	for i := range t.Candidates {
		k := &t.Candidates[i]
		if !k.Eligible {
			continue
		}
		seen := Compared{Candidate: k.Name, Runs: t.counted(k)}
		sum := 0.0
		for _, id := range seen.Runs {
			v, ok := results[id]
			if !ok || math.IsNaN(v) {
				lacking = append(lacking, id)
				continue
			}
			seen.TxPerS = append(seen.TxPerS, v)
			sum += v
		}
		seen.TxPerSAvg = sum / float64(len(seen.Runs))
		if seen.TxPerSAvg > best {
			best = seen.TxPerSAvg
			c.Candidate, c.Settings = k.Name, overlay(k.Settings, nil)
		}
		c.Compared = append(c.Compared, seen)
	}
	if len(lacking) > 0 {
		return Choice{}, fmt.Errorf("cannot choose settings for %s: no result of %s (missing or failed)", t.words(), strings.Join(lacking, ", "))
	}
	return c, nil
}

// counted lists the IDs of the candidate's runs that the rule counts.
func (t *Tuning) counted(c *Candidate) []string {
	var ids []string
	for round := 1; round <= t.Rounds; round++ {
		t.visit(c, func(engine string, terminals int) {
			if engine == t.ChooseOver {
				r := Run{Phase: PhaseTuning, Cell: t.cell(c, engine, terminals), Round: round}
				ids = append(ids, r.ID())
			}
		})
	}
	return ids
}

// TuningName is the name of the tuning that chose.
func (c *Choice) TuningName() string {
	if c.Tuning != "" {
		return c.Tuning
	}
	return c.Device
}

// words names the tuning in a sentence.
func (t *Tuning) words() string {
	if t.Name == t.Device {
		return "device " + t.Device
	}
	return fmt.Sprintf("%s on device %s", t.Name, t.Device)
}

// String is one line: what was chosen, and the figures that were compared.
func (c *Choice) String() string {
	var figures []string
	for _, k := range c.Compared {
		figures = append(figures, fmt.Sprintf("%s %.0f", k.Candidate, k.TxPerSAvg))
	}
	settings := settingsText(c.Settings)
	if settings == "" {
		settings = "defaults"
	}
	return fmt.Sprintf("%s: %s (%s), by the mean tx_per_s of %s: %s", c.TuningName(), c.Candidate, settings, c.Over, strings.Join(figures, ", "))
}

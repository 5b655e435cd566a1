package report

import (
	"encoding/json"
	"io"
	"time"

	"tpccbench/matrix"
	"tpccbench/record"
	"tpccbench/report/stats"
)

// WriteJSON writes the verdict as one JSON object: the same content as WriteText, with the figures as they are.
func (s *Study) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(s.document())
}

// orEmpty makes an empty list, not null, of none.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

type document struct {
	Standing   string              `json:"standing"`
	Why        string              `json:"why"`
	Study      string              `json:"study"`
	Registered time.Time           `json:"registered"`
	Emulations []string            `json:"emulations"`
	Plan       record.Registration `json:"plan"`
	Build      record.Build        `json:"build"`
	Machine    json.RawMessage     `json:"machine,omitempty"`
	Runs       int                 `json:"runs"`
	FailedRuns int                 `json:"failed_runs"`
	IsWhole    bool                `json:"is_whole"`
	Problems   []Problem           `json:"problems"`
	Notes      []string            `json:"notes"`
	Decisions  []decisionJSON      `json:"decisions"`
	Noise      []noiseJSON         `json:"noise"`
	Choices    []matrix.Choice     `json:"choices"`
}

type decisionJSON struct {
	Name       string          `json:"name"`
	Claim      string          `json:"claim"`
	Outcome    Outcome         `json:"outcome"`
	Sentence   string          `json:"sentence"`
	Reasons    []string        `json:"reasons"`
	MinRounds  int             `json:"min_rounds"`
	Conditions []conditionJSON `json:"conditions"`
	Quoted     []figuresJSON   `json:"quoted"`
	Times      []figuresJSON   `json:"times"`
}

type conditionJSON struct {
	Statistic  string        `json:"statistic"`
	Column     string        `json:"column"`
	OverColumn string        `json:"over_column,omitempty"`
	HoldsFor   string        `json:"holds_for"`
	Comparison string        `json:"comparison"`
	Threshold  float64       `json:"threshold"`
	Outcome    Outcome       `json:"outcome"`
	Evidence   []figuresJSON `json:"evidence"`
}

type noiseJSON struct {
	Device string        `json:"device"`
	Column string        `json:"column"`
	Factor float64       `json:"factor"`
	Pairs  []figuresJSON `json:"pairs"` // ratios of the twin over the cell
}

// figuresJSON is a figure of a cell, or of one over another, by round, and what it comes to.
type figuresJSON struct {
	Column       string        `json:"column,omitempty"`
	Cell         string        `json:"cell"`
	Over         string        `json:"over,omitempty"`
	Rounds       []int         `json:"rounds"`
	Values       []float64     `json:"values"`
	Lacking      []Lack        `json:"lacking,omitempty"`
	Summary      stats.Summary `json:"summary"`
	BandFactor   *float64      `json:"band_factor,omitempty"` // of evidence; absent: no A/A pair tells
	Low          *float64      `json:"low,omitempty"`
	High         *float64      `json:"high,omitempty"`
	Outcome      Outcome       `json:"outcome,omitempty"`
	Reason       string        `json:"reason,omitempty"`
	NoDifference bool          `json:"no_difference,omitempty"`
}

func figuresOf(column, cell, over string, s Sample) figuresJSON {
	return figuresJSON{Column: column, Cell: cell, Over: over, Rounds: orEmpty(s.Rounds), Values: orEmpty(s.Values), Lacking: s.Lacking, Summary: s.Summary()}
}

func (s *Study) document() *document {
	reg := &s.Registration
	d := &document{
		Standing: s.Standing(), Why: s.WhyStanding(), Study: reg.Study, Registered: reg.Registered, Emulations: orEmpty(s.Emulations()), Plan: reg.Plan, Build: reg.Build,
		Machine: reg.Machine, Runs: len(s.Runs), IsWhole: s.IsWhole(), Problems: orEmpty(s.Problems), Notes: orEmpty(s.Notes),
		Decisions: []decisionJSON{}, Noise: []noiseJSON{}, Choices: []matrix.Choice{},
	}
	for _, r := range s.Runs {
		if r.Status != record.OK {
			d.FailedRuns++
		}
	}
	for i := range s.Verdicts {
		d.Decisions = append(d.Decisions, s.Verdicts[i].document())
	}
	if s.Plan == nil {
		return d
	}
	for _, device := range s.Plan.Devices {
		for _, column := range s.comparedColumns() {
			b, ok := s.Band(device.Name, column)
			if !ok {
				continue
			}
			n := noiseJSON{Device: device.Name, Column: column, Factor: b.Factor}
			for _, p := range s.Pairs {
				if p.A.Device == device.Name {
					n.Pairs = append(n.Pairs, figuresOf("", p.B.Name, p.A.Name, Ratios(column, p.B, p.A)))
				}
			}
			d.Noise = append(d.Noise, n)
		}
	}
	for _, t := range s.Tunings {
		if t.Choice != nil {
			d.Choices = append(d.Choices, *t.Choice)
		}
	}
	return d
}

func (v *Verdict) document() decisionJSON {
	d := decisionJSON{Name: v.Decision.Name, Claim: v.Decision.Claim, Outcome: v.Outcome, Sentence: v.Sentence, Reasons: orEmpty(v.Reasons),
		MinRounds: v.Decision.MinRounds, Quoted: []figuresJSON{}, Times: []figuresJSON{}}
	for i := range v.Conditions {
		c := &v.Conditions[i]
		p := c.Condition
		j := conditionJSON{Statistic: p.Statistic, Column: p.Column, OverColumn: p.OverColumn, HoldsFor: p.HoldsFor,
			Comparison: p.Comparison, Threshold: p.Threshold, Outcome: c.Outcome}
		for k := range c.Evidence {
			e := &c.Evidence[k]
			f := figuresOf("", e.Cell, e.Over, e.Sample)
			f.Outcome, f.Reason, f.NoDifference = e.Outcome, e.Reason, e.NoDifference
			if e.Band != nil {
				f.BandFactor = &e.Band.Factor
			}
			if e.Summary.N > 0 {
				f.Low, f.High = &e.Low, &e.High
			}
			j.Evidence = append(j.Evidence, f)
		}
		d.Conditions = append(d.Conditions, j)
	}
	for _, q := range v.Quoted {
		d.Quoted = append(d.Quoted, figuresOf(q.Column, q.Cell, "", q.Sample))
	}
	for _, q := range v.Times {
		d.Times = append(d.Times, figuresOf(q.Column, q.Cell, q.Over, q.Sample))
	}
	return d
}

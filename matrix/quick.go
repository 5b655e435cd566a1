package matrix

import "slices"

// What Quick reduces a plan to.
const (
	quickSeconds      = 2
	quickTransactions = 2_000
)

// Quick derives a short plan, to see that all parts work on a machine: every cell runs once for 2 s, the equality
// gates have at most 2,000 transactions, and a tuning has one run per eligible candidate, of the engine that its rule
// looks at. Its Name ends in -quick and its IsQuick is true; its SHA256 differs. Its figures are no results. A plan that
// is quick already is returned as it is. quick.toml is the quick form of preregistered.toml, written down.
func (p *Plan) Quick() *Plan {
	if p.IsQuick {
		return p
	}
	q := *p
	q.Name += "-quick"
	q.IsQuick = true
	q.Gate.EqualTransactions = min(q.Gate.EqualTransactions, quickTransactions)
	q.Devices = slices.Clone(p.Devices)
	for i := range q.Devices {
		d := &q.Devices[i]
		d.Seconds, d.WarmUpSeconds, d.Rounds = min(d.Seconds, quickSeconds), 0, 1
	}
	q.Tunings = slices.Clone(p.Tunings)
	for i := range q.Tunings {
		t := &q.Tunings[i]
		t.Rounds = 1
		over := slices.IndexFunc(t.Groups, func(g TuningGroup) bool { return g.Engine == t.ChooseOver })
		g := t.Groups[over]
		g.Terminals = g.Terminals[:1:1]
		t.Groups = []TuningGroup{g}
		var eligible []Candidate
		for _, c := range t.Candidates {
			if c.Eligible {
				c.Engines = []string{g.Engine}
				eligible = append(eligible, c)
			}
		}
		t.Candidates = eligible
	}
	return &q
}

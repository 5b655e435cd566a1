package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"tpccbench/matrix"
	"tpccbench/record"
)

// WriteText writes the verdict for a terminal. Its first line begins with the study's Standing.
func (s *Study) WriteText(w io.Writer) error { return s.layout().writeText(w) }

// WriteMarkdown writes the verdict as verdict.md holds it: the same content as WriteText.
func (s *Study) WriteMarkdown(w io.Writer) error { return s.layout().writeMarkdown(w) }

// FirstLine is the line that every output about the study begins with.
func (s *Study) FirstLine() string {
	text := s.Standing() + ": " + s.WhyStanding() + "."
	if e := s.Emulations(); len(e) > 0 {
		text += " An emulation, no real card: " + strings.Join(e, ", ") + "."
	}
	return text
}

func (s *Study) layout() *layout {
	l := new(layout)
	l.add(line{words: s.FirstLine()})
	l.add(heading{1, "Verdict of " + s.Registration.Study})
	l.add(s.origin())
	if items := s.outcomes(); len(items) > 0 {
		l.add(items)
	}
	s.problemWords(l)
	s.decisionWords(l)
	s.noiseWords(l)
	s.tuningWords(l)
	return l
}

// outcomes has one item per decision.
func (s *Study) outcomes() list {
	var items list
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		text := v.Sentence
		if v.Outcome == CannotDecide {
			text = fmt.Sprintf("cannot decide, for %s (see below)", counted(len(v.Reasons), "reason"))
		}
		items = append(items, v.Decision.Name+": "+text)
	}
	return items
}

func (s *Study) origin() list {
	reg := &s.Registration
	failed := 0
	for _, r := range s.Runs {
		if r.Status != record.OK {
			failed++
		}
	}
	commit := firstOf(reg.Plan.PlanCommit, "none")
	items := list{
		fmt.Sprintf("plan: SHA-256 %s, commit %s, registered %s", reg.Plan.PlanSHA256, commit, reg.Registered.Format(time.RFC3339)),
		fmt.Sprintf("program: commit %s, %s", firstOf(reg.Build.ToolCommit, "unknown"), firstOf(reg.Build.GoVersion, "unknown version of Go")),
		"machine: " + machineWords(reg.Machine),
	}
	records := fmt.Sprintf("records: %s, %d of them failed, and %s", counted(len(s.Runs), "run"), failed, counted(len(s.Gates), "equality gate"))
	if len(s.Runs) > 0 {
		records += fmt.Sprintf("; from %s to %s", s.Runs[0].Started.Format(time.RFC3339), s.Runs[len(s.Runs)-1].Ended.Format(time.RFC3339))
	}
	items = append(items, records)
	if s.IsWhole() {
		items = append(items, "integrity: nothing is altered, missing, duplicated or foreign")
	} else {
		items = append(items, "integrity: NOT WHOLE, see the problems")
	}
	for _, n := range s.Notes {
		items = append(items, "note: "+n)
	}
	return items
}

// machineWords names the machine of a registration.
func machineWords(raw json.RawMessage) string {
	var m struct {
		CPUModel string `json:"cpu_model"`
		Cores    int    `json:"cores_usable"`
		Memory   int64  `json:"memory_bytes"`
		Kernel   string `json:"kernel"`
		Arch     string `json:"arch"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil {
		return "unknown"
	}
	return fmt.Sprintf("%s, %s, %.1f GB of memory, kernel %s, %s", firstOf(m.CPUModel, "unknown processor"), counted(m.Cores, "core"),
		float64(m.Memory)/1e9, firstOf(m.Kernel, "unknown"), firstOf(m.Arch, "unknown architecture"))
}

func (s *Study) problemWords(l *layout) {
	if len(s.Problems) == 0 {
		return
	}
	l.add(heading{2, "Problems"})
	l.add(problemList(s.Problems))
}

// problemList has one item per problem; what several files have in common is one item.
func problemList(problems []Problem) list {
	type key struct {
		kind Kind
		text string
	}
	files := map[key][]string{}
	var order []key
	for _, p := range problems {
		k := key{p.Kind, p.Text}
		if files[k] == nil {
			order = append(order, k)
		}
		files[k] = append(files[k], p.File)
	}
	var items list
	for _, k := range order {
		items = append(items, Problem{k.kind, someOf(files[k]), k.text}.String())
	}
	return items
}

func (s *Study) decisionWords(l *layout) {
	if s.Plan == nil {
		l.add(line{words: "Cannot decide anything: " + s.invalid + ".", strong: true})
		return
	}
	if len(s.Verdicts) == 0 {
		l.add(line{words: "The plan decides nothing."})
	}
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		l.add(heading{2, fmt.Sprintf("%d. %s: %s", i+1, v.Decision.Name, v.word())})
		if v.Outcome == CannotDecide {
			l.add(line{words: "Cannot decide, for these reasons:", strong: true})
			l.add(list(v.Reasons))
		} else {
			l.add(line{words: v.Sentence, strong: true})
		}
		l.add(line{words: "The claim: " + v.Decision.Claim})
		for j := range v.Conditions {
			c := &v.Conditions[j]
			l.add(line{words: fmt.Sprintf("Condition: %s. It %s.", conditionWords(c.Condition), c.words())})
			l.add(evidenceGrid(c))
		}
		if len(v.Quoted) > 0 {
			l.add(line{words: "Quoted with it, median (range) and each round:"})
			g := grid{header: []string{"column", "cell", "median (range)", "by round"}, left: 1}
			for _, q := range v.Quoted {
				g.rows = append(g.rows, []string{q.Column, q.Cell, q.Sample.words(), q.Sample.byRound()})
			}
			l.add(g)
		}
		if len(v.Times) > 0 {
			l.add(line{words: "How many times the one is the other, within rounds:"})
			g := grid{header: []string{"column", "cell over cell", "median (range)", "by round"}, left: 1}
			for _, q := range v.Times {
				g.rows = append(g.rows, []string{q.Column, q.Cell + " over " + q.Over, q.Sample.words(), q.Sample.byRound()})
			}
			l.add(g)
		}
	}
}

// word says in two or three words how the decision ended.
func (v *Verdict) word() string {
	if v.Outcome == CannotDecide {
		return string(CannotDecide)
	}
	return "decided"
}

// words says whether the condition holds, as the rest of a sentence.
func (c *ConditionVerdict) words() string {
	if c.Outcome == CannotDecide {
		return "cannot be decided"
	}
	for _, e := range c.Evidence {
		if len(e.Sample.Lacking) > 0 {
			return string(c.Outcome) + " in the rounds that there are"
		}
	}
	return string(c.Outcome)
}

// conditionWords is the condition as half a sentence.
func conditionWords(c *matrix.Condition) string {
	what := c.Column
	switch c.Statistic {
	case matrix.StatisticQuotient:
		what = fmt.Sprintf("%s / %s of the same run", c.Column, c.OverColumn)
	case matrix.StatisticRatio:
		what = fmt.Sprintf("the ratio of %s within a round", c.Column)
	}
	cells := fmt.Sprintf("%s of %s", c.HoldsFor, counted(len(c.Cells), "cell"))
	if len(c.Cells) == 1 {
		cells = c.Cells[0]
	}
	return fmt.Sprintf("%s is %s %s for %s", what, strings.ReplaceAll(c.Comparison, "_", " "), number(c.Threshold), cells)
}

func evidenceGrid(c *ConditionVerdict) grid {
	g := grid{header: []string{"cell", "median (range)", "by round", "widened by the A/A band", "holds"}}
	if c.Condition.OverCells != nil {
		g.header[0] = "cell over cell"
	}
	for i := range c.Evidence {
		e := &c.Evidence[i]
		widened := "no A/A pair"
		switch {
		case e.Summary.N == 0:
			widened = "-"
		case e.Band != nil:
			widened = fmt.Sprintf("x%.3f: %s-%s", e.Band.Factor, three(e.Low), three(e.High))
		}
		outcome := map[Outcome]string{Holds: "yes", HoldsNot: "no", CannotDecide: "cannot decide"}[e.Outcome]
		if e.NoDifference {
			outcome += " (no difference)"
		}
		g.rows = append(g.rows, []string{e.name(), e.Sample.words(), e.Sample.byRound(), widened, outcome})
	}
	return g
}

// words is MEDIAN (LOWEST-HIGHEST), with the interval if there is one.
func (s Sample) words() string {
	sum, form := s.Summary(), s.form()
	switch {
	case sum.N == 0:
		return "n/a"
	case sum.N == 1:
		return form(sum.Median)
	}
	text := fmt.Sprintf("%s (%s-%s)", form(sum.Median), form(sum.Min), form(sum.Max))
	if i := sum.Interval; i != nil {
		text += fmt.Sprintf(" [%s-%s at %.1f %%]", form(i.Low), form(i.High), 100*i.Confidence)
	}
	return text
}

// byRound lists the figures in the order of the rounds; a hyphen for a round that has none.
func (s Sample) byRound() string {
	n := 0
	for _, r := range s.Rounds {
		n = max(n, r)
	}
	for _, l := range s.Lacking {
		n = max(n, l.Round)
	}
	words := make([]string, n)
	for i := range words {
		words[i] = "-"
	}
	form := s.form()
	for i, r := range s.Rounds {
		words[r-1] = form(s.Values[i])
	}
	return strings.Join(words, " ")
}

// noiseWords shows the A/A pairs, for throughput and for every column that a decision compares.
func (s *Study) noiseWords(l *layout) {
	if s.Plan == nil {
		return
	}
	l.add(heading{2, "Noise"})
	if len(s.Pairs) == 0 {
		l.add(line{words: "The plan has no A/A pair: how far identical things differ here is not known, and the ranges of the rounds stand alone."})
		s.driftWords(l)
		return
	}
	l.add(line{words: "Each A/A pair is the same engine with the same settings twice. The band of a column on a device is the largest factor, " +
		"either way, by which a pair there differed within a round; a ratio inside it is no difference."})
	g := grid{header: []string{"twin over cell", "column", "median (range)", "by round", "band on the device"}, left: 1}
	for _, p := range s.Pairs {
		for _, column := range s.comparedColumns() {
			ratios := Ratios(column, p.B, p.A)
			band := "unknown"
			if b, ok := s.Band(p.A.Device, column); ok {
				band = fmt.Sprintf("x%.3f", b.Factor)
			}
			g.rows = append(g.rows, []string{p.B.Name + " over " + p.A.Name, column, ratios.words(), ratios.byRound(), band})
		}
	}
	l.add(g)
	s.driftWords(l)
}

// driftWords shows how the level of throughput and of the calibration loop changed over the rounds.
func (s *Study) driftWords(l *layout) {
	l.add(line{words: "Drift: the median over a device's cells of a round's figure relative to the cell's own median, by round, and the change " +
		"from the first to the last round by the least-squares line."})
	g := grid{header: []string{"device", "column", "by round", "drift"}, left: 1}
	for _, d := range s.Plan.Devices {
		for _, column := range []string{"tx_per_s", "calibration_ns"} {
			level := s.Level(d.Name, column)
			drift := "too few rounds"
			if v := level.Drift(); !math.IsNaN(v) {
				drift = fmt.Sprintf("%+.1f %%", 100*v)
			}
			g.rows = append(g.rows, []string{d.Name, column, level.byRound(), drift})
		}
	}
	l.add(g)
}

// comparedColumns are tx_per_s and the columns of the decisions' conditions.
func (s *Study) comparedColumns() []string {
	columns := []string{"tx_per_s"}
	seen := map[string]bool{"tx_per_s": true, "": true}
	for _, d := range s.Plan.Decisions {
		for _, c := range d.Conditions {
			for _, name := range []string{c.Column, c.OverColumn} {
				if !seen[name] {
					seen[name] = true
					columns = append(columns, name)
				}
			}
		}
	}
	return columns
}

// tuningWords shows what the rule saw and chose.
func (s *Study) tuningWords(l *layout) {
	for _, t := range s.Tunings {
		l.add(heading{2, t.title()})
		if t.Choice == nil {
			l.add(line{words: "Nothing can be chosen: " + t.Lacks, strong: true})
		} else {
			l.add(line{words: fmt.Sprintf("Chosen by %s of %s: %s (%s).", t.Choice.Rule, t.Choice.Over, t.Choice.Candidate,
				firstOf(record.SettingsText(t.Choice.Settings), "defaults"))})
		}
		g := grid{header: []string{"candidate"}}
		for _, c := range t.Candidates {
			name := c.Name
			switch {
			case c.Chosen:
				name += " (chosen)"
			case !c.Eligible:
				name += " (not to be chosen)"
			}
			row := []string{name}
			byCell := map[string]string{}
			for _, cell := range c.Cells {
				byCell[cell.column()] = cell.Values("tx_per_s").words()
			}
			for _, group := range t.Plan.Groups {
				for _, n := range group.Terminals {
					column := fmt.Sprintf("%s, %d", group.Engine, n)
					if len(g.rows) == 0 {
						g.header = append(g.header, column+" (tx/s)")
					}
					row = append(row, firstOf(byCell[column], "-"))
				}
			}
			if len(g.rows) == 0 {
				g.header = append(g.header, "mean that the rule compares")
			}
			g.rows = append(g.rows, append(row, t.compared(c.Name)))
		}
		l.add(g)
	}
}

// column is the heading of the cell in a table of the tuning.
func (c *Cell) column() string { return fmt.Sprintf("%s, %d", c.Engine, c.Terminals) }

// compared is the mean that the rule saw of the candidate.
func (t *Tuning) compared(candidate string) string {
	if t.Choice != nil {
		for _, c := range t.Choice.Compared {
			if c.Candidate == candidate {
				return three(c.TxPerSAvg)
			}
		}
	}
	return "-"
}

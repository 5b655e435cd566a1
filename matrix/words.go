package matrix

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Words prints the plan in words: what will run, in which order, how long it takes and how much space it needs at
// most, which settings are chosen by which rule, and what will be decided by which rule.
func (p *Plan) Words(w io.Writer) error {
	b := &wordWriter{bufio.NewWriter(w)}
	b.line("Plan %s: %s", p.Name, p.Title)
	if p.IsQuick {
		b.line("QUICK: short runs to see that all works; its figures are no results.")
	}
	b.line("Its identity, the SHA-256 of its canonical form (not of the file): %s", p.SHA256())
	b.line("Seed %d for the population and every terminal's stream, the same in every run; mix %s.", p.Seed, mixWords(p.Mix))
	b.line("")
	p.deviceWords(b)
	p.gateWords(b)
	p.tuningWords(b)
	p.matrixWords(b)
	p.decisionWords(b)
	return b.Flush()
}

type wordWriter struct{ *bufio.Writer }

func (b *wordWriter) line(format string, args ...any) { fmt.Fprintf(b.Writer, format+"\n", args...) }

// need is what a list of runs and gates needs: the sum of the seconds, the most of the bytes.
type need struct {
	seconds               float64
	deviceBytes, memBytes int64
}

func (n *need) add(seconds float64, deviceBytes, memBytes int64) {
	n.seconds += seconds
	n.deviceBytes = max(n.deviceBytes, deviceBytes)
	n.memBytes = max(n.memBytes, memBytes)
}

func needOf(runs []Run) need {
	var n need
	for _, r := range runs {
		n.add(Estimate(r))
	}
	return n
}

func (p *Plan) deviceWords(b *wordWriter) {
	gates := p.Gates()
	runs := append(p.TuningRuns(), p.MatrixRuns(nil)...)
	b.line("Devices")
	total := needOf(runs)
	for _, d := range p.Devices {
		on := needOf(slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Device != d.Name }))
		for _, g := range gates {
			if g.Device == d.Name {
				on.add(EstimateGate(g))
			}
		}
		where := "a file system on a block device"
		if d.Kind == KindMemory {
			where = "a file system in memory (tmpfs)"
		}
		free := ""
		if d.KeepFreeBytes > 0 {
			free = fmt.Sprintf(" with %s left free", bytesWords(d.KeepFreeBytes))
		}
		b.line("  %s: %s; %s a run after %s of warm-up, %s; at most %s of space%s and %s of memory.", d.Name, where,
			secondsWords(d.Seconds), secondsWords(d.WarmUpSeconds), count(d.Rounds, "round"), bytesWords(on.deviceBytes), free, bytesWords(on.memBytes))
	}
	for _, g := range gates {
		total.add(EstimateGate(g))
	}
	b.line("%s and %s; about %s at most.", count(len(gates), "gate"), count(len(runs), "run"), durationWords(total.seconds))
	b.line("")
}

func (p *Plan) gateWords(b *wordWriter) {
	b.line("1. Gates: what misses one is kept as failed and is in no table")
	for _, g := range p.Gates() {
		b.line("  %s: %d transactions from seed %d, one after the other, through each of %s at W=%d on %s; every row of the",
			g.Name, g.Transactions, g.Seed, strings.Join(g.Engines, ", "), g.W, g.Device)
		b.line("    nine tables must be equal, and %s.", failureWords(g.MaxFailures))
	}
	b.line("  After every run: clauses %s of 3.3.2 (the published gate) and %s must hold, and %s.",
		clauseWords(p.Gate.PublishedClauses), clauseWords(p.Gate.CheckedClauses), failureWords(p.Gate.MaxFailures))
	b.line("    On the store opened again, what the acknowledged transactions must have left is all there; on a disk with a")
	b.line("    volatile cache there was a device flush for each durable commit.")
	b.line("    A New-Order that rolls back as the specification wants is a success.")
	b.line("")
}

func (p *Plan) tuningWords(b *wordWriter) {
	b.line("2. Tuning: which settings the tuned rows get")
	if len(p.Tunings) == 0 {
		b.line("  None: every row runs with its own settings.")
	}
	runs := p.TuningRuns()
	for i := range p.Tunings {
		t := &p.Tunings[i]
		var groups []string
		for _, g := range t.Groups {
			groups = append(groups, fmt.Sprintf("%s with terminals %s", g.Engine, numbers(g.Terminals)))
		}
		mine := slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return r.Tuning != t.Name })
		n := needOf(mine)
		b.line("  On %s, W=%d, %s of %s: %s, about %s.", t.Device, t.W, count(t.Rounds, "round"),
			strings.Join(groups, ", "), count(len(mine), "run"), durationWords(n.seconds))
		for _, c := range t.Candidates {
			note := ""
			if !c.Eligible {
				note = fmt.Sprintf(" (measured with %s, cannot be chosen)", strings.Join(c.Engines, ", "))
			}
			b.line("    %s: %s%s", c.Name, settingsWords(c.Settings), note)
		}
		b.line("    Chosen for %s: the candidate with the highest mean of tx_per_s over the runs of %s; of equal ones the first.",
			strings.Join(t.AppliesTo, ", "), t.ChooseOver)
	}
	orderWords(b, runs)
	b.line("")
}

func (p *Plan) matrixWords(b *wordWriter) {
	runs := p.MatrixRuns(nil)
	b.line("3. Matrix: every cell once per round; all rounds of a device before the next device; about %s", durationWords(needOf(runs).seconds))
	for _, r := range p.Rows {
		var with []string
		tuned := func(device string) bool {
			_, ok := p.Tuning(device, r.Engine)
			return ok
		}
		if slices.ContainsFunc(r.Devices, tuned) {
			with = append(with, "the settings chosen on its device")
		}
		if len(r.Settings) > 0 {
			with = append(with, settingsText(r.Settings))
		}
		if len(with) == 0 {
			with = append(with, "defaults")
		}
		name := r.Label
		switch {
		case r.TwinOf != "":
			name += fmt.Sprintf(" (engine %s, the twin of %s: the same again under another name)", r.Engine, r.TwinOf)
		case r.Label != r.Engine:
			name += " (engine " + r.Engine + ")"
		}
		b.line("  %s: terminals %s, W=%s, on %s, with %s%s.", name, numbers(r.Terminals), numbers(r.W), strings.Join(r.Devices, ", "),
			strings.Join(with, " and "), r.loadWords())
	}
	if twins := p.Twins(); len(twins) > 0 {
		b.line("  A/A pairs, which differ by what identical things differ by here:")
		for _, t := range twins {
			b.line("    %s and %s", t.Cell, t.Twin)
		}
	} else {
		b.line("  There is no A/A pair: how far identical things differ here will not be known.")
	}
	orderWords(b, runs)
	b.line("")
}

// loadWords says how the row's transactions come, with a comma before it; empty for a closed loop in-process.
func (r *Row) loadWords() string {
	text := ""
	if len(r.Rates) > 0 {
		text = fmt.Sprintf(", in an open loop of %s transactions/s (%s arrivals; latency from the intended start)", numbers(r.Rates), r.Arrivals)
	}
	if r.Transport == TransportInProcess {
		return text
	}
	text += ", over " + r.Transport
	if r.CPUs != "" {
		text += " with the server on processors " + r.CPUs
	}
	if r.LoadCPUs != "" {
		text += " with the terminals on processors " + r.LoadCPUs
	}
	return text
}

// orderWords prints the runs in their order, a paragraph per device and round.
func orderWords(b *wordWriter, runs []Run) {
	for len(runs) > 0 {
		first := runs[0]
		n := slices.IndexFunc(runs, func(r Run) bool { return r.Device != first.Device || r.Round != first.Round })
		if n < 0 {
			n = len(runs)
		}
		b.line("  Order on %s, round %d (runs %d to %d):", first.Device, first.Round, first.Order, runs[n-1].Order)
		for _, r := range runs[:n] {
			b.line("    %s", r.Cell)
		}
		runs = runs[n:]
	}
}

func (p *Plan) decisionWords(b *wordWriter) {
	b.line("4. Decisions: what the result changes")
	if len(p.Decisions) == 0 {
		b.line("  None.")
	}
	for i := range p.Decisions {
		d := &p.Decisions[i]
		b.line("  %s: %s", d.Name, d.Claim)
		for i, c := range d.Conditions {
			head := "If"
			if i > 0 {
				head = "and"
			}
			b.line("    %s %s:", head, c.words())
			for j, cell := range c.Cells {
				if c.OverCells != nil {
					cell += " over " + c.OverCells[j]
				}
				b.line("      %s", cell)
			}
		}
		b.line("    then: %s", d.IfTrue)
		b.line("    else: %s", d.IfFalse)
		p.undecidedWords(b, d)
		if len(d.Report) > 0 {
			b.line("    Quoted with it: %s.", strings.Join(d.Report, ", "))
		}
	}
}

// undecidedWords says when the decision is not made.
func (p *Plan) undecidedWords(b *wordWriter, d *Decision) {
	b.line("    Cannot be decided if a round of these cells has no result (its run is missing, or broke a gate), if there are")
	b.line("      fewer than %s, or if noise exceeds the effect where the outcome hangs on it: the rounds lie on both", count(d.MinRounds, "round"))
	if len(p.Twins()) > 0 {
		b.line("      sides of the threshold, widened by the factor that an A/A pair of the device differs by.")
	} else {
		b.line("      sides of the threshold.")
	}
	for _, name := range p.shortDevices(d) {
		dev, _ := p.Device(name)
		b.line("    It will not be decided by this plan: %s has %s.", name, count(dev.Rounds, "round"))
	}
}

// shortDevices lists the devices of the decision's cells that have fewer rounds than the decision needs.
func (p *Plan) shortDevices(d *Decision) []string {
	var names []string
	for i := range p.Rows {
		for _, c := range p.Rows[i].cells() {
			dev, _ := p.Device(c.device)
			used := slices.ContainsFunc(d.Conditions, func(x Condition) bool {
				return slices.Contains(x.Cells, c.name) || slices.Contains(x.OverCells, c.name)
			})
			if used && dev.Rounds < d.MinRounds && !slices.Contains(names, dev.Name) {
				names = append(names, dev.Name)
			}
		}
	}
	return names
}

// words is the condition as half a sentence that a list of its cells follows.
func (c *Condition) words() string {
	what := c.Column
	switch c.Statistic {
	case StatisticQuotient:
		what = fmt.Sprintf("%s / %s of the same run", c.Column, c.OverColumn)
	case StatisticRatio:
		what = fmt.Sprintf("the ratio of %s within a round", c.Column)
	}
	return fmt.Sprintf("%s (median over the rounds) is %s %s for %s of", what, strings.ReplaceAll(c.Comparison, "_", " "),
		strconv.FormatFloat(c.Threshold, 'f', -1, 64), c.HoldsFor)
}

func settingsWords(m map[string]string) string {
	if len(m) == 0 {
		return "the engine's defaults"
	}
	return settingsText(m)
}

func failureWords(most int64) string {
	if most == 0 {
		return "no transaction may fail"
	}
	return fmt.Sprintf("at most %d transactions may fail", most)
}

func mixWords(mix []int) string {
	var parts []string
	for i, name := range []string{"new_order", "payment", "order_status", "delivery", "stock_level"} {
		parts = append(parts, fmt.Sprintf("%s %d", name, mix[i]))
	}
	return strings.Join(parts, ", ")
}

// clauseWords renders ascending clause numbers, runs of them as first-last.
func clauseWords(clauses []int) string {
	sorted := slices.Sorted(slices.Values(clauses))
	var parts []string
	for i := 0; i < len(sorted); {
		j := i
		for j+1 < len(sorted) && sorted[j+1] == sorted[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, strconv.Itoa(sorted[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", sorted[i], sorted[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

func numbers(list []int) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, "/")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func secondsWords(s float64) string { return strconv.FormatFloat(s, 'g', -1, 64) + " s" }

func durationWords(seconds float64) string {
	if seconds < 120 {
		return fmt.Sprintf("%.0f s", math.Ceil(seconds))
	}
	return fmt.Sprintf("%.0f min", math.Ceil(seconds/60))
}

// bytesWords renders a size in MB of a million bytes, rounded up.
func bytesWords(n int64) string { return fmt.Sprintf("%d MB", (n+999_999)/1_000_000) }

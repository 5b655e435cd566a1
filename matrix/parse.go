package matrix

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
)

// Bounds of what a plan may ask for: beyond them lies a slip of the pen, not a study.
const (
	maxW            = 4096
	maxTerminals    = 10_000
	maxRounds       = 1_000
	maxSeconds      = 7 * 24 * 3600
	maxTransactions = 1_000_000_000
	maxWeight       = 1_000_000
	maxRate         = 10_000_000
	maxCells        = 100_000
)

// Read reads and checks the plan in the file. All that is wrong with it is in the error, which is of type Problems
// unless the file cannot be read.
func Read(path string) (*Plan, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	return Parse(path, data)
}

// Parse reads and checks a plan; file is its name in messages.
func Parse(file string, data []byte) (*Plan, error) {
	content, lines, err := readTOML(file, data)
	if err != nil {
		return nil, err
	}
	ps := &problems{file: file, lines: lines}
	root := &table{problems: ps, m: content}
	p := &Plan{file: file, source: slices.Clone(data), lines: lines}
	if !checkFormat(root) {
		return nil, ps.err() // keys of another version would be reported one by one as unknown
	}
	p.Name = root.name("name")
	p.Title = root.text("title")
	p.IsQuick = root.boolean("quick", false)
	p.Seed = uint64(root.integer("seed", 0, math.MaxInt64))
	p.OrderSeed = uint64(root.integer("order_seed", 0, math.MaxInt64))
	p.Mix = readMix(root)
	p.readDevices(root)
	p.readGates(root)
	p.readTunings(root)
	before := len(ps.found)
	p.readRows(root)
	var cells []string // nil if the rows have problems: then nobody can say which cells there are
	if len(ps.found) == before {
		cells = p.CellNames()
	}
	p.readDecisions(root, cells)
	root.done()
	if err := ps.err(); err != nil {
		return nil, err
	}
	return p, nil
}

func checkFormat(root *table) bool {
	before := len(root.found)
	if v, ok := root.take("format", true); ok && v != Format {
		root.add("format", "is %s; this program reads %q", quoted(v), Format)
	}
	if v, ok := root.take("version", true); ok && v != int64(Version) {
		root.add("version", "is %s; this program reads version %d", quoted(v), Version)
	}
	return len(root.found) == before
}

func readMix(root *table) []int {
	const types = 5
	v, ok := root.take("mix", false)
	if !ok {
		return []int{45, 43, 4, 4, 4}
	}
	list, _ := v.([]any)
	if len(list) != types {
		root.add("mix", "must be a list of %d weights: new_order, payment, order_status, delivery, stock_level", types)
		return nil
	}
	var mix []int
	sum := 0
	for i, v := range list {
		n := int(root.integerValue(fmt.Sprintf("mix[%d]", i), v, 0, maxWeight))
		mix = append(mix, n)
		sum += n
	}
	if sum == 0 {
		root.add("mix", "has only zeros; at least one weight must be above 0")
	}
	return mix
}

// declare notes a problem if the name was declared before, at another path.
func declare(ps *problems, seen map[string]string, what, name, path string) {
	if first, ok := seen[name]; ok {
		ps.add(path, "duplicate %s %q; it is in line %d too", what, name, lineOf(ps.lines, first))
		return
	}
	seen[name] = path
}

func (p *Plan) readDevices(root *table) {
	seen := map[string]string{}
	for _, t := range root.tables("device", true) {
		d := Device{
			Name:          t.name("name"),
			Kind:          t.oneOf("kind", KindMemory, KindDisk),
			Seconds:       t.number("seconds", 0, false, maxSeconds),
			WarmUpSeconds: t.number("warm_up_seconds", 0, true, maxSeconds),
			Rounds:        int(t.integer("rounds", 1, maxRounds)),
			KeepFreeBytes: t.integerOr("keep_free_bytes", 0, 0, math.MaxInt64),
		}
		t.done()
		declare(t.problems, seen, "device", d.Name, t.key("name"))
		p.Devices = append(p.Devices, d)
	}
}

// checkDevice notes a problem if the plan has no such device.
func (p *Plan) checkDevice(ps *problems, path, name string) {
	if _, ok := p.Device(name); !ok {
		var names []string
		for _, d := range p.Devices {
			names = append(names, d.Name)
		}
		ps.add(path, "there is no device %q; the plan has %s", name, orNone(names))
	}
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func (p *Plan) readGates(root *table) {
	t := root.table("gates")
	if t == nil {
		return
	}
	p.Gate = GateRules{
		EqualTransactions: t.integer("equal_transactions", 1, maxTransactions),
		EqualEngines:      t.names("equal_engines", true),
		EqualDevice:       t.name("equal_device"),
		PublishedClauses:  t.integers("published_clauses", 1, 12),
		CheckedClauses:    t.integers("checked_clauses", 1, 12),
		MaxFailures:       t.integer("max_failures", 0, maxTransactions),
	}
	t.done()
	if len(p.Gate.EqualEngines) == 1 {
		t.add(t.key("equal_engines"), "has one engine; at least two are needed to compare")
	}
	p.checkDevice(t.problems, t.key("equal_device"), p.Gate.EqualDevice)
	for i, c := range p.Gate.CheckedClauses {
		if slices.Contains(p.Gate.PublishedClauses, c) {
			t.add(fmt.Sprintf("%s[%d]", t.key("checked_clauses"), i), "%d is among published_clauses already", c)
		}
	}
}

func (p *Plan) readTunings(root *table) {
	seen, tuned := map[string]string{}, map[string]string{}
	for _, t := range root.tables("tuning", false) {
		u := Tuning{
			path:       t.path,
			Device:     t.name("device"),
			W:          int(t.integer("w", 1, maxW)),
			Rounds:     int(t.integer("rounds", 1, maxRounds)),
			AppliesTo:  t.names("applies_to", true),
			ChooseBy:   t.oneOf("choose_by", ChooseMeanTxPerS),
			ChooseOver: t.name("choose_over"),
		}
		p.checkDevice(t.problems, t.key("device"), u.Device)
		u.Name = t.nameOr("name", u.Device)
		declare(t.problems, seen, "tuning", u.Name, t.key("name"))
		for i, e := range u.AppliesTo {
			declare(t.problems, tuned, "tuning of", e+" on device "+u.Device, fmt.Sprintf("%s[%d]", t.key("applies_to"), i))
		}
		var engines []string
		for _, g := range t.tables("run", true) {
			group := TuningGroup{path: g.path, Engine: g.name("engine"), Terminals: g.integers("terminals", 1, maxTerminals)}
			g.done()
			if slices.Contains(engines, group.Engine) {
				g.add(g.key("engine"), "duplicate engine %q; one run table lists all its terminals", group.Engine)
			}
			if !slices.Contains(u.AppliesTo, group.Engine) {
				g.add(g.key("engine"), "%q is not among applies_to: only an engine that gets the chosen settings is tuned", group.Engine)
			}
			engines = append(engines, group.Engine)
			u.Groups = append(u.Groups, group)
		}
		if !slices.Contains(engines, u.ChooseOver) {
			t.add(t.key("choose_over"), "no run of the tuning is of engine %q; its runs are of %s", u.ChooseOver, orNone(engines))
		}
		readCandidates(t, &u, engines)
		t.done()
		p.Tunings = append(p.Tunings, u)
	}
}

func readCandidates(t *table, u *Tuning, engines []string) {
	seen := map[string]string{}
	bySettings := map[string]string{}
	eligible := 0
	for _, c := range t.tables("candidate", true) {
		k := Candidate{
			path:     c.path,
			Name:     c.name("name"),
			Extends:  c.nameOr("extends", ""),
			Own:      c.settings("settings"),
			Eligible: c.boolean("eligible", true),
			Engines:  c.names("engines", false),
		}
		c.done()
		declare(c.problems, seen, "candidate", k.Name, c.key("name"))
		k.Settings = maps.Clone(k.Own)
		if k.Extends != "" {
			i := slices.IndexFunc(u.Candidates, func(x Candidate) bool { return x.Name == k.Extends })
			if i < 0 {
				c.add(c.key("extends"), "no candidate %q stands before this one", k.Extends)
			} else {
				k.Settings = overlay(u.Candidates[i].Settings, k.Own)
			}
		}
		if k.Eligible {
			eligible++
			if k.Engines != nil {
				c.add(c.key("engines"), "an eligible candidate is run with every engine of the tuning; this key needs eligible = false")
			}
		}
		for i, e := range k.Engines {
			if !slices.Contains(engines, e) {
				c.add(fmt.Sprintf("%s[%d]", c.key("engines"), i), "no run of the tuning is of engine %q; its runs are of %s", e, orNone(engines))
			}
		}
		if k.Engines == nil {
			k.Engines = engines
		}
		text := settingsText(k.Settings)
		if first, ok := bySettings[text]; ok {
			c.add(c.path, "duplicate candidate: %q has the same settings", first)
		}
		bySettings[text] = k.Name
		u.Candidates = append(u.Candidates, k)
	}
	if eligible == 0 && len(u.Candidates) > 0 {
		t.add(t.key("candidate"), "none is eligible; at least one must be, to be chosen")
	}
}

func (p *Plan) readRows(root *table) {
	rows := root.tables("cell", true)
	cells := map[string]string{}
	labels := map[string]*Row{}
	placed := map[[2]string]*Row{} // by label and transport
	for _, t := range rows {
		r := Row{path: t.path, Engine: t.name("engine")}
		r.Label = t.nameOr("label", r.Engine)
		r.TwinOf = t.nameOr("twin_of", "")
		r.Settings = t.settings("settings")
		r.Terminals = t.integers("terminals", 1, maxTerminals)
		r.W = t.integers("w", 1, maxW)
		r.Devices = t.names("devices", true)
		readLoad(t, &r)
		t.done()
		for i, d := range r.Devices {
			p.checkDevice(t.problems, fmt.Sprintf("%s[%d]", t.key("devices"), i), d)
		}
		if r.Label == r.Engine && len(r.Settings) > 0 {
			t.add(t.key("label"), "a row with settings of its own needs a label other than its engine's name")
		}
		if r.Label == r.TwinOf {
			t.add(t.key("twin_of"), "%q is the row's own label; a twin has another", r.TwinOf)
		}
		if first, ok := labels[r.Label]; !ok {
			labels[r.Label] = &r
		} else if first.TwinOf != r.TwinOf {
			t.add(t.key("label"), "%q is a twin in one place and none in another (line %d); a label means one thing",
				r.Label, lineOf(t.lines, first.path))
		} else if first.Engine != r.Engine || !maps.Equal(first.Settings, r.Settings) {
			t.add(t.key("label"), "%q stands for another engine or other settings in line %d; a label means one thing",
				r.Label, lineOf(t.lines, first.path))
		}
		place := [2]string{r.Label, r.Transport}
		if first, ok := placed[place]; !ok {
			placed[place] = &r
		} else if first.CPUs != r.CPUs || first.LoadCPUs != r.LoadCPUs {
			t.add(t.key("label"), "%q has other processors with transport %s in line %d; a label means one thing", r.Label, r.Transport,
				lineOf(t.lines, first.path))
		}
		if len(cells)+len(r.Devices)*len(r.W)*len(r.Terminals)*max(1, len(r.Rates)) > maxCells {
			t.add(t.path, "the plan has more than %d cells", maxCells)
			return
		}
		for _, c := range r.cells() {
			declare(t.problems, cells, "cell", c.name, t.path)
		}
		p.Rows = append(p.Rows, r)
	}
	for _, r := range p.Rows {
		if r.Label != r.Engine && slices.ContainsFunc(p.Rows, func(x Row) bool { return x.Engine == r.Label }) {
			root.add(r.path+".label", "%q is the name of an engine; a label must not be", r.Label)
		}
		if r.TwinOf != "" && r.TwinOf != r.Label {
			checkTwin(root.problems, &r, labels[r.TwinOf], placed[[2]string{r.TwinOf, r.Transport}], cells)
		}
	}
}

// readLoad reads how the row's transactions come to the engine.
func readLoad(t *table, r *Row) {
	r.Rates = t.integersOr("rates", 1, maxRate)
	if r.Arrivals = t.oneOfOr("arrivals", "", ArrivalsFixed, ArrivalsPoisson); len(r.Rates) > 0 && r.Arrivals == "" {
		r.Arrivals = ArrivalsPoisson
	}
	if _, given := t.m["rates"]; !given && r.Arrivals != "" {
		t.add(t.key("arrivals"), "needs rates: a row without them is a closed loop, in which nothing arrives")
	}
	r.Transport = t.oneOfOr("transport", TransportInProcess, TransportInProcess, TransportHTTP)
	r.CPUs, r.LoadCPUs = t.textOr("cpus"), t.textOr("load_cpus")
	for _, key := range []string{"cpus", "load_cpus"} {
		if _, given := t.m[key]; given && r.Transport == TransportInProcess {
			t.add(t.key(key), "needs transport = %q: in-process, terminals and engine are one process, whose processors taskset chooses", TransportHTTP)
		}
	}
}

// checkTwin notes what makes the row no twin of the first row with the label that it names: nil if there is none. An A/A
// pair says something only if its cells are the same in all but the name, and both are there. served is the first of these
// rows with the same transport.
func checkTwin(ps *problems, r, of, served *Row, cells map[string]string) {
	path := r.path + ".twin_of"
	switch {
	case of == nil:
		ps.add(path, "no row has the label %q", r.TwinOf)
		return
	case of.TwinOf != "":
		ps.add(path, "%q is itself a twin of %q", r.TwinOf, of.TwinOf)
		return
	case of.Engine != r.Engine:
		ps.add(path, "%q is of engine %s, not %s; a twin is the same under another label", r.TwinOf, of.Engine, r.Engine)
		return
	case !maps.Equal(of.Settings, r.Settings):
		ps.add(path, "%q has the settings {%s}, not {%s}; a twin is the same under another label", r.TwinOf,
			settingsText(of.Settings), settingsText(r.Settings))
		return
	case served != nil && (served.CPUs != r.CPUs || served.LoadCPUs != r.LoadCPUs):
		ps.add(path, "%q has other processors with transport %s; a twin is the same under another label", r.TwinOf, r.Transport)
		return
	}
	for _, c := range r.cells() {
		if name := cellName(c.device, c.w, r.TwinOf, c.terminals, c.load); cells[name] == "" {
			ps.add(r.path, "%s would be the twin of %s, which is no cell of the plan", c.name, name)
		}
	}
}

// readDecisions reads the decisions. cells are the names that their conditions may use; nil: any.
func (p *Plan) readDecisions(root *table, cells []string) {
	seen := map[string]string{}
	for _, t := range root.tables("decision", false) {
		d := Decision{
			path:    t.path,
			Name:    t.name("name"),
			Claim:   t.text("claim"),
			IfTrue:  t.text("if_true"),
			IfFalse: t.text("if_false"),
			Report:  t.columns("report"),

			MinRounds: int(t.integerOr("min_rounds", DefaultMinRounds, 1, maxRounds)),
		}
		declare(t.problems, seen, "decision", d.Name, t.key("name"))
		for _, c := range t.tables("condition", true) {
			d.Conditions = append(d.Conditions, readCondition(c, cells))
		}
		t.done()
		p.Decisions = append(p.Decisions, d)
	}
}

func readCondition(t *table, cells []string) Condition {
	c := Condition{
		path:       t.path,
		Statistic:  t.oneOf("statistic", StatisticValue, StatisticQuotient, StatisticRatio),
		Column:     t.text("column"),
		Cells:      t.cellNames("cells"),
		HoldsFor:   t.oneOf("holds_for", holdsFor...),
		Comparison: t.oneOf("comparison", comparisons...),
		Threshold:  t.number("threshold", -math.MaxFloat64, true, math.MaxFloat64),
	}
	// What the statistic divides by is asked for only where it means something; elsewhere it is an unknown key.
	switch c.Statistic {
	case StatisticQuotient:
		c.OverColumn = t.text("over_column")
	case StatisticRatio:
		c.OverCells = t.cellNames("over_cells")
		if len(c.OverCells) != len(c.Cells) {
			t.add(t.key("over_cells"), "has %d cells; it must have one for each of the %d of cells", len(c.OverCells), len(c.Cells))
			c.OverCells = nil
		}
	}
	t.done()
	seen := map[[2]string]bool{}
	for i, name := range c.Cells {
		path := fmt.Sprintf("%s[%d]", t.key("cells"), i)
		checkCell(t.problems, path, name, cells)
		pair := [2]string{name}
		if c.OverCells != nil {
			pair[1] = c.OverCells[i]
			over := fmt.Sprintf("%s[%d]", t.key("over_cells"), i)
			checkCell(t.problems, over, pair[1], cells)
			if name == pair[1] {
				t.add(over, "%q is compared with itself", name)
			}
		}
		if seen[pair] {
			t.add(path, "%q is there twice", strings.TrimSpace(name+" "+pair[1]))
		}
		seen[pair] = true
	}
	return c
}

// checkCell notes a problem if name is none of the cells.
func checkCell(ps *problems, path, name string, cells []string) {
	if cells != nil && !slices.Contains(cells, name) {
		ps.add(path, "names no cell: %q; the plan's cells are %s", name, orNone(cells))
	}
}

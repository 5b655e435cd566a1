package matrix

import (
	"maps"
	"slices"
)

// CheckNames reports every engine of the plan that known does not know, and every setting that an engine it is given
// to does not have, as Problems. known returns the names of the engine's settings, or why it cannot be used.
func (p *Plan) CheckNames(known func(engine string) (settings []string, err error)) error {
	ps := &problems{file: p.file, lines: p.lines}
	engine := func(path, name string) bool {
		_, err := known(name)
		if err != nil {
			ps.add(path, "%v", err)
		}
		return err == nil
	}
	settings := func(path, engine string, given map[string]string) {
		has, err := known(engine)
		if err != nil {
			return // reported where the engine is named
		}
		for _, name := range slices.Sorted(maps.Keys(given)) {
			if !slices.Contains(has, name) {
				ps.add(path+".settings."+name, "engine %s has no such setting; it has %s", engine, orNone(has))
			}
		}
	}
	for _, e := range p.Gate.EqualEngines {
		engine("gates.equal_engines", e)
	}
	for i := range p.Tunings {
		t := &p.Tunings[i]
		for _, e := range t.AppliesTo {
			engine(t.path+".applies_to", e)
		}
		for _, g := range t.Groups {
			engine(g.path+".engine", g.Engine)
		}
		for j := range t.Candidates {
			c := &t.Candidates[j]
			given := slices.Clone(c.Engines)
			if c.Eligible {
				given = append(given, t.AppliesTo...) // if chosen
			}
			slices.Sort(given)
			for _, e := range slices.Compact(given) {
				settings(c.path, e, c.Settings)
			}
		}
	}
	for i := range p.Rows {
		if r := &p.Rows[i]; engine(r.path+".engine", r.Engine) {
			settings(r.path, r.Engine, r.Settings)
		}
	}
	return ps.err()
}

// CheckSettings reports every set of settings that check refuses for the engine that would get it, as Problems: those of
// each candidate of a tuning with each engine that it is run with or may be chosen for, and those of each row, alone and
// on top of each candidate that may be chosen for it. Engines that there are not are left out; CheckNames reports them.
func (p *Plan) CheckSettings(check func(engine string, settings map[string]string) error) error {
	ps := &problems{file: p.file, lines: p.lines}
	seen := map[string]bool{} // one report per place and text
	try := func(path, engine string, settings map[string]string) bool {
		err := check(engine, settings)
		if err != nil && !seen[path+err.Error()] {
			seen[path+err.Error()] = true
			ps.add(path, "%v", err)
		}
		return err == nil
	}
	for i := range p.Tunings {
		t := &p.Tunings[i]
		for j := range t.Candidates {
			c := &t.Candidates[j]
			for _, e := range c.Engines {
				try(c.path+".settings", e, c.Settings)
			}
			for _, e := range t.AppliesTo {
				if c.Eligible && !slices.Contains(c.Engines, e) {
					try(c.path+".settings", e, c.Settings)
				}
			}
		}
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		if !try(r.path+".settings", r.Engine, r.Settings) {
			continue
		}
		for _, d := range r.Devices {
			t, ok := p.Tuning(d, r.Engine)
			if !ok {
				continue
			}
			for _, c := range t.Candidates {
				if c.Eligible && check(r.Engine, c.Settings) == nil {
					try(r.path+".settings", r.Engine, overlay(c.Settings, r.Settings))
				}
			}
		}
	}
	return ps.err()
}

// CheckCPUs reports every list of processors of a row that check refuses, as Problems.
func (p *Plan) CheckCPUs(check func(list string) error) error {
	ps := &problems{file: p.file, lines: p.lines}
	for i := range p.Rows {
		r := &p.Rows[i]
		for _, c := range []struct{ key, list string }{{"cpus", r.CPUs}, {"load_cpus", r.LoadCPUs}} {
			if c.list == "" {
				continue
			}
			if err := check(c.list); err != nil {
				ps.add(joinPath(r.path, c.key), "%v", err)
			}
		}
	}
	return ps.err()
}

// CheckColumns reports every column of the decisions that is none, as Problems. known says whether there is a figure
// of that name in a raw record.
func (p *Plan) CheckColumns(known func(column string) bool) error {
	ps := &problems{file: p.file, lines: p.lines}
	check := func(path, column string) {
		if column != "" && !known(column) {
			ps.add(path, "there is no column %q", column)
		}
	}
	for _, d := range p.Decisions {
		for _, c := range d.Report {
			check(d.path+".report", c)
		}
		for _, c := range d.Conditions {
			check(c.path+".column", c.Column)
			check(c.path+".over_column", c.OverColumn)
		}
	}
	return ps.err()
}

package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tpccbench/report"
)

func machine(s *report.Study) section {
	sec := section{ID: "machine", Title: "Machine and settings"}
	t := &table{Caption: "The machine, when the study was registered", Head: []string{"fact", "value"}}
	for _, f := range factsOf(s.Registration.Machine) {
		t.row(words(f.Name), words(f.Value))
	}
	b := s.Registration.Build
	for _, f := range []fact{{"go_version, of the build", b.GoVersion, false}, {"CGO_CFLAGS, of the build", b.CGOCFlags, false}} {
		if f.Value != "" {
			t.row(words(f.Name), words(f.Value))
		}
	}
	sec.Blocks = append(sec.Blocks, block{Table: t})

	var devices []string
	for _, r := range s.Runs {
		if !slices.Contains(devices, r.Spec.Device) && len(r.Storage) > 0 {
			devices = append(devices, r.Spec.Device)
			t := &table{Caption: "What stands behind " + r.Spec.Device, Head: []string{"fact", "value"}}
			for _, f := range factsOf(r.Storage) {
				t.row(words(f.Name), words(f.Value))
			}
			sec.Blocks = append(sec.Blocks, block{Table: t})
		}
	}
	sec.Blocks = append(sec.Blocks, block{Heading: "Settings"}, block{Table: givenTable(s)}, text("And as the engines told them, opened with these:"))
	for _, t := range settingsTables(s) {
		sec.Blocks = append(sec.Blocks, block{Table: t})
	}
	if s.Plan != nil {
		sec.Blocks = append(sec.Blocks, block{Details: &details{"The plan as it was run", []block{{Code: string(s.Plan.Source())}}}})
	}
	return sec
}

// givenTable has what the plan and its tuning gave to the engines.
func givenTable(s *report.Study) *table {
	t := &table{Caption: "Settings that the plan and its tuning gave; all others are the engines' defaults", Head: []string{"row, device", "engine", "settings"}}
	var seen []string
	for _, c := range s.Cells {
		name := c.Label + " on " + c.Device
		if slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		given := settingsInWords(c.Settings)
		if c.Settings == nil {
			given = "not known: the tuning could not choose"
		}
		t.row(words(name), words(c.Engine), words(given))
	}
	return t
}

// settingsTables have, per engine, what its runs of the matrix read back: a column per device and row of the plan.
func settingsTables(s *report.Study) []*table {
	type column struct {
		name   string
		values map[string]string
	}
	byEngine := map[string][]column{}
	var engines []string
	for _, c := range s.Cells {
		results := c.Results()
		if len(results) == 0 {
			continue
		}
		if !slices.Contains(engines, c.Engine) {
			engines = append(engines, c.Engine)
		}
		name := c.Label + " on " + c.Device
		values := results[0].EngineSettings
		i := slices.IndexFunc(byEngine[c.Engine], func(k column) bool { return k.name == name })
		switch {
		case i < 0:
			byEngine[c.Engine] = append(byEngine[c.Engine], column{name, maps.Clone(values)})
		default:
			for k, v := range values {
				if old := byEngine[c.Engine][i].values[k]; old != v && !slices.Contains(strings.Split(old, " or "), v) {
					byEngine[c.Engine][i].values[k] = old + " or " + v
				}
			}
		}
	}
	var tables []*table
	for _, e := range engines {
		columns := byEngine[e]
		same := &table{Caption: e + ": the same in every cell", Head: []string{"setting", "value"}}
		differ := &table{Caption: e + ": what differs", Head: []string{"setting"}}
		names := map[string]bool{}
		for _, k := range columns {
			differ.Head = append(differ.Head, k.name)
			for name := range k.values {
				names[name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			first := columns[0].values[name]
			if !slices.ContainsFunc(columns, func(k column) bool { return k.values[name] != first }) {
				same.row(words(name), words(first))
				continue
			}
			row := []cell{words(name)}
			for _, k := range columns {
				row = append(row, words(k.values[name]))
			}
			differ.row(row...)
		}
		for _, t := range []*table{differ, same} {
			if len(t.Rows) > 0 {
				tables = append(tables, t)
			}
		}
	}
	return tables
}

// factsOf flattens a JSON object of facts: names are joined by dots, members of lists are counted from 1, a figure that
// is {"unmeasured": WHY} says so, and bytes are rounded.
func factsOf(raw json.RawMessage) []fact {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if len(raw) == 0 || dec.Decode(&v) != nil {
		return []fact{{"facts", notRecorded, false}}
	}
	var facts []fact
	flatten("", v, &facts)
	return facts
}

func flatten(name string, v any, facts *[]fact) {
	join := func(k string) string {
		if name == "" {
			return k
		}
		return name + "." + k
	}
	switch v := v.(type) {
	case map[string]any:
		if why, ok := v["unmeasured"].(string); ok && len(v) == 1 {
			*facts = append(*facts, fact{Name: name, Value: "none: " + why})
			return
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			flatten(join(k), v[k], facts)
		}
	case []any:
		var simple []string
		for _, x := range v {
			if s, ok := x.(string); ok {
				simple = append(simple, s)
			}
		}
		if len(simple) == len(v) {
			*facts = append(*facts, fact{Name: name, Value: strings.Join(simple, ", ")})
			return
		}
		for i, x := range v {
			flatten(join(strconv.Itoa(i+1)), x, facts)
		}
	case json.Number:
		text := v.String()
		if f, err := v.Float64(); err == nil && strings.HasSuffix(name, "bytes") && f >= 1e6 {
			text = fmt.Sprintf("%s (%s)", size(f), whole(f))
		}
		*facts = append(*facts, fact{Name: name, Value: text})
	default:
		*facts = append(*facts, fact{Name: name, Value: fmt.Sprint(v)})
	}
}

// machineInWords is the machine in one line.
func machineInWords(raw json.RawMessage) string {
	var m struct {
		CPUModel    string `json:"cpu_model"`
		Board       string `json:"board"`
		CoresUsable int    `json:"cores_usable"`
		MemoryBytes any    `json:"memory_bytes"`
		Kernel      string `json:"kernel"`
		Arch        string `json:"arch"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return ""
	}
	var parts []string
	for _, p := range []string{m.Board, m.CPUModel} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if m.CoresUsable > 0 {
		parts = append(parts, counted(m.CoresUsable, "core"))
	}
	if b, ok := m.MemoryBytes.(float64); ok {
		parts = append(parts, size(b)+" of memory")
	}
	if m.Kernel != "" {
		parts = append(parts, strings.TrimSpace("Linux "+m.Kernel+" "+m.Arch))
	}
	return strings.Join(parts, ", ")
}

package matrix

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The canonical form of a plan is the text whose SHA-256 is the plan's identity. It is UTF-8, one line per key, each
// ended by a line feed:
//
//	tpccbench.plan canonical 2
//	name = "preregistered"
//	seed = 106
//	mix = [45, 43, 4, 4, 4]
//	device[0].name = "ram"
//	device[0].seconds = 20
//	tuning[0].candidate[1].settings.temp_store = "memory"
//	...
//
// A key is its path in the TOML file, tables of a list numbered from 0 in the file's order; the name of a setting that
// holds anything but letters, digits, hyphens and underscores is written as a string. Keys stand in the order in
// which canonical writes them, settings of one table in name order. A string is written as JSON, without escapes for
// HTML; a number in decimal without an exponent, with as few digits as read back as the same whole number or float64; a
// list in brackets, its values separated by a comma and a blank. A key that the file leaves out and that has a default
// is written with it.
//
// So comments, blanks, line ends, the order of keys in a table, defaults that are spelled out and the spelling of a value
// do not count; every value, and the order of tables and lists, does.
//
// A key that is added to the language later must be written only where a plan gives it, so that older plans keep their
// identity. twin_of, quick, extends, engines, min_rounds, keep_free_bytes, rates (with arrivals),
// transport, cpus and load_cpus are written like that already.
const canonicalHeader = Format + " canonical 2"

// Forms of identity. Form 1 was the JSON of this package's types, which the next field would have changed; it is kept to
// check the registrations that were made under it.
const (
	IdentityForm1 = 1
	IdentityForm  = 2 // that of the canonical text
)

// SHA256 is the plan's identity: the SHA-256, in hex, of its canonical form.
func (p *Plan) SHA256() string {
	sum := sha256.Sum256(p.Canonical())
	return hex.EncodeToString(sum[:])
}

// SHA256Form is the plan's identity in an older form, or in the present one. It is an error if there is no such form.
func (p *Plan) SHA256Form(form int) (string, error) {
	switch form {
	case IdentityForm:
		return p.SHA256(), nil
	case IdentityForm1:
		b, err := json.Marshal(p)
		if err != nil {
			panic(err) // strings, numbers, lists and maps of strings only; NaN is refused when reading
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d\n%s", Format, Version, b))
		return hex.EncodeToString(sum[:]), nil
	}
	return "", fmt.Errorf("there is no form %d of a plan's identity; this program knows %d and %d", form, IdentityForm1, IdentityForm)
}

// Canonical is the canonical form of the plan.
func (p *Plan) Canonical() []byte {
	var b bytes.Buffer
	b.WriteString(canonicalHeader + "\n")
	for _, k := range p.canonical() {
		fmt.Fprintf(&b, "%s = %s\n", k.path, k.value)
	}
	return b.Bytes()
}

// canonicalKey is a key of the canonical form, and its value as it is written there.
type canonicalKey struct{ path, value string }

// canonicalWriter collects keys.
type canonicalWriter struct{ keys []canonicalKey }

func (w *canonicalWriter) add(path, key string, value any) {
	w.keys = append(w.keys, canonicalKey{joinPath(path, key), canonicalValue(value)})
}

// given adds the key unless its value is the zero of its type: the file leaves it out.
func given[T comparable](w *canonicalWriter, path, key string, value T) {
	if value != *new(T) {
		w.add(path, key, value)
	}
}

func (w *canonicalWriter) settings(path string, settings map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		key := name
		if strings.ContainsFunc(name, notBare) {
			key = canonicalValue(name)
		}
		w.add(path+".settings", key, settings[name])
	}
}

// notBare says whether a key with the character needs quotes in TOML.
func notBare(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

func canonicalValue(value any) string {
	var parts []string
	switch v := value.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []int:
		for _, n := range v {
			parts = append(parts, canonicalValue(n))
		}
	case []string:
		for _, s := range v {
			parts = append(parts, canonicalValue(s))
		}
	default:
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			panic(err) // strings, whole numbers and truth values only
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// canonical lists the keys of the canonical form in their order.
func (p *Plan) canonical() []canonicalKey {
	w := new(canonicalWriter)
	w.add("", "name", p.Name)
	w.add("", "title", p.Title)
	given(w, "", "quick", p.IsQuick)
	w.add("", "seed", p.Seed)
	w.add("", "order_seed", p.OrderSeed)
	w.add("", "mix", p.Mix)
	for i, d := range p.Devices {
		at := fmt.Sprintf("device[%d]", i)
		w.add(at, "name", d.Name)
		w.add(at, "kind", d.Kind)
		w.add(at, "seconds", d.Seconds)
		w.add(at, "warm_up_seconds", d.WarmUpSeconds)
		w.add(at, "rounds", d.Rounds)
		given(w, at, "keep_free_bytes", d.KeepFreeBytes)
	}
	w.add("gates", "equal_transactions", p.Gate.EqualTransactions)
	w.add("gates", "equal_engines", p.Gate.EqualEngines)
	w.add("gates", "equal_device", p.Gate.EqualDevice)
	w.add("gates", "published_clauses", p.Gate.PublishedClauses)
	w.add("gates", "checked_clauses", p.Gate.CheckedClauses)
	w.add("gates", "max_failures", p.Gate.MaxFailures)
	for i := range p.Tunings {
		p.Tunings[i].canonical(w, fmt.Sprintf("tuning[%d]", i))
	}
	for i, r := range p.Rows {
		at := fmt.Sprintf("cell[%d]", i)
		w.add(at, "label", r.Label)
		given(w, at, "twin_of", r.TwinOf)
		w.add(at, "engine", r.Engine)
		w.settings(at, r.Settings)
		w.add(at, "terminals", r.Terminals)
		w.add(at, "w", r.W)
		w.add(at, "devices", r.Devices)
		if len(r.Rates) > 0 {
			w.add(at, "rates", r.Rates)
			w.add(at, "arrivals", r.Arrivals)
		}
		if r.Transport != TransportInProcess {
			w.add(at, "transport", r.Transport)
		}
		given(w, at, "cpus", r.CPUs)
		given(w, at, "load_cpus", r.LoadCPUs)
	}
	for i := range p.Decisions {
		p.Decisions[i].canonical(w, fmt.Sprintf("decision[%d]", i))
	}
	return w.keys
}

func (t *Tuning) canonical(w *canonicalWriter, at string) {
	if t.Name != t.Device {
		w.add(at, "name", t.Name)
	}
	w.add(at, "device", t.Device)
	w.add(at, "w", t.W)
	w.add(at, "rounds", t.Rounds)
	w.add(at, "applies_to", t.AppliesTo)
	w.add(at, "choose_by", t.ChooseBy)
	w.add(at, "choose_over", t.ChooseOver)
	for i, g := range t.Groups {
		run := fmt.Sprintf("%s.run[%d]", at, i)
		w.add(run, "engine", g.Engine)
		w.add(run, "terminals", g.Terminals)
	}
	for i, c := range t.Candidates {
		candidate := fmt.Sprintf("%s.candidate[%d]", at, i)
		w.add(candidate, "name", c.Name)
		given(w, candidate, "extends", c.Extends)
		w.settings(candidate, c.Own)
		w.add(candidate, "eligible", c.Eligible)
		if !c.Eligible {
			w.add(candidate, "engines", c.Engines)
		}
	}
}

func (d *Decision) canonical(w *canonicalWriter, at string) {
	w.add(at, "name", d.Name)
	w.add(at, "claim", d.Claim)
	if d.MinRounds != DefaultMinRounds {
		w.add(at, "min_rounds", d.MinRounds)
	}
	for i, c := range d.Conditions {
		condition := fmt.Sprintf("%s.condition[%d]", at, i)
		w.add(condition, "statistic", c.Statistic)
		w.add(condition, "column", c.Column)
		given(w, condition, "over_column", c.OverColumn)
		w.add(condition, "cells", c.Cells)
		if c.OverCells != nil {
			w.add(condition, "over_cells", c.OverCells)
		}
		w.add(condition, "holds_for", c.HoldsFor)
		w.add(condition, "comparison", c.Comparison)
		w.add(condition, "threshold", c.Threshold)
	}
	w.add(at, "if_true", d.IfTrue)
	w.add(at, "if_false", d.IfFalse)
	if d.Report != nil {
		w.add(at, "report", d.Report)
	}
}

// FirstDifference says what the first key is in which the plan differs from the registered one, in the order of the
// canonical form, as "KEY was REGISTERED, is now VALUE"; empty if they are the same plan.
func (p *Plan) FirstDifference(registered *Plan) string {
	old, now := registered.canonical(), p.canonical()
	values := map[string]string{}
	for _, k := range now {
		values[k.path] = k.value
	}
	for _, k := range old {
		switch v, ok := values[k.path]; {
		case !ok:
			return fmt.Sprintf("%s was %s, is now not there", k.path, k.value)
		case v != k.value:
			return fmt.Sprintf("%s was %s, is now %s", k.path, k.value, v)
		}
		delete(values, k.path)
	}
	for _, k := range now {
		if v, ok := values[k.path]; ok {
			return fmt.Sprintf("%s was not there, is now %s", k.path, v)
		}
	}
	return ""
}

package matrix

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Problem is one thing that is wrong with a plan.
type Problem struct {
	File string
	Line int    // from 1
	Key  string // path of the key: cell[1].terminals (tables count from 0); empty: the file as a whole
	Text string // what is wrong and what is allowed
}

// Error is FILE:LINE: KEY: TEXT.
func (p Problem) Error() string {
	if p.Key == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Key, p.Text)
}

// Problems is all that is wrong with a plan, in the order of the lines.
type Problems []Problem

// Error has one line per problem.
func (ps Problems) Error() string {
	var lines []string
	for _, p := range ps {
		lines = append(lines, p.Error())
	}
	return strings.Join(lines, "\n")
}

// problems collects what is wrong with the file.
type problems struct {
	file  string
	lines map[string]int
	found Problems
}

// add notes a problem of the key with the path.
func (ps *problems) add(path, format string, args ...any) {
	ps.found = append(ps.found, Problem{ps.file, lineOf(ps.lines, path), path, fmt.Sprintf(format, args...)})
}

// err is all that was noted, or nil.
func (ps *problems) err() error {
	if len(ps.found) == 0 {
		return nil
	}
	slices.SortStableFunc(ps.found, func(a, b Problem) int { return a.Line - b.Line })
	return ps.found
}

// lineOf is the line of the key, or of the innermost table around it that has one: a missing key is reported where its
// table begins.
func lineOf(lines map[string]int, path string) int {
	for {
		if n, ok := lines[path]; ok {
			return n
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return 1
		}
		path = path[:cut]
	}
}

// readTOML reads a document into maps, and the line of every key and table in it, by path.
func readTOML(file string, data []byte) (map[string]any, map[string]int, error) {
	var content map[string]any
	if err := toml.Unmarshal(data, &content); err != nil {
		line := 1
		text := err.Error()
		var de *toml.DecodeError
		if errors.As(err, &de) {
			line, _ = de.Position()
		}
		return nil, nil, Problems{{file, line, "", "not TOML: " + strings.TrimPrefix(text, "toml: ")}}
	}
	return content, keyLines(data), nil
}

// keyLines finds the lines of the keys of a valid document.
func keyLines(data []byte) map[string]int {
	lines := map[string]int{}
	tables := map[string]int{} // number of tables of an array of tables so far
	var p unstable.Parser
	p.Reset(data)
	current := "" // path of the table that key-values belong to
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			path, line := "", 1
			for it := e.Key(); it.Next(); {
				path = joinPath(path, string(it.Node().Data))
				line = lineAt(data, it.Node().Raw)
				if _, ok := lines[path]; !ok {
					lines[path] = line
				}
				if it.IsLast() && e.Kind == unstable.ArrayTable {
					tables[path]++
				}
				if n := tables[path]; n > 0 {
					path = fmt.Sprintf("%s[%d]", path, n-1)
				}
			}
			current = path
			lines[current] = line
		case unstable.KeyValue:
			valueLines(data, lines, current, e)
		}
	}
	return lines
}

// valueLines notes the lines of a key-value and of the keys of inline tables in its value.
func valueLines(data []byte, lines map[string]int, path string, kv *unstable.Node) {
	for it := kv.Key(); it.Next(); {
		path = joinPath(path, string(it.Node().Data))
		lines[path] = lineAt(data, it.Node().Raw)
	}
	innerLines(data, lines, path, kv.Value())
}

func innerLines(data []byte, lines map[string]int, path string, value *unstable.Node) {
	switch value.Kind {
	case unstable.InlineTable:
		for it := value.Children(); it.Next(); {
			valueLines(data, lines, path, it.Node())
		}
	case unstable.Array:
		i := 0
		for it := value.Children(); it.Next(); i++ {
			item := fmt.Sprintf("%s[%d]", path, i)
			if raw := it.Node().Raw; raw.Length > 0 {
				lines[item] = lineAt(data, raw)
			}
			innerLines(data, lines, item, it.Node())
		}
	}
}

func lineAt(data []byte, r unstable.Range) int {
	return 1 + bytes.Count(data[:r.Offset], []byte{'\n'})
}

func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// table reads the keys of one table. Every reader notes its problems and then returns a value that later checks can
// bear. After the last of them, done reports the keys that nobody asked for.
type table struct {
	*problems
	path  string
	m     map[string]any
	asked []string
}

func (t *table) key(name string) string { return joinPath(t.path, name) }

// take returns the value of the key; a missing one is a problem unless it is optional.
func (t *table) take(name string, required bool) (any, bool) {
	t.asked = append(t.asked, name)
	v, ok := t.m[name]
	if !ok && required {
		t.add(t.key(name), "is missing")
	}
	return v, ok
}

func (t *table) done() {
	for _, name := range slices.Sorted(maps.Keys(t.m)) {
		if !slices.Contains(t.asked, name) {
			t.add(t.key(name), "unknown key; allowed are %s", strings.Join(t.asked, ", "))
		}
	}
}

// text reads a string that is not blank.
func (t *table) text(name string) string {
	v, ok := t.take(name, true)
	if !ok {
		return ""
	}
	s, isString := v.(string)
	switch {
	case !isString:
		t.add(t.key(name), "is %s; it must be a string", typeName(v))
	case strings.TrimSpace(s) == "":
		t.add(t.key(name), "is empty; it must say something")
	}
	return s
}

// name reads a string that may stand in file names and patterns: lower-case letters and digits, with single hyphens
// between them.
func (t *table) name(key string) string {
	v, ok := t.take(key, true)
	if !ok {
		return ""
	}
	return t.nameValue(t.key(key), v)
}

// nameOr is name for an optional key.
func (t *table) nameOr(key, fallback string) string {
	v, ok := t.take(key, false)
	if !ok {
		return fallback
	}
	return t.nameValue(t.key(key), v)
}

func (t *table) nameValue(path string, v any) string {
	s, isString := v.(string)
	if !isString {
		t.add(path, "is %s; it must be a string", typeName(v))
	} else if !isName(s) {
		t.add(path, "is %q; a name is lower-case letters and digits with single hyphens between them", s)
	}
	return s
}

func isName(s string) bool {
	for part := range strings.SplitSeq(s, "-") {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return len(s) <= 64
}

// oneOf reads a string that is one of the allowed values.
func (t *table) oneOf(name string, allowed ...string) string {
	v, ok := t.take(name, true)
	if !ok {
		return ""
	}
	s, _ := v.(string)
	if !slices.Contains(allowed, s) {
		t.add(t.key(name), "is %v; allowed are %s", quoted(v), strings.Join(allowed, ", "))
	}
	return s
}

// oneOfOr is oneOf for an optional key.
func (t *table) oneOfOr(name, fallback string, allowed ...string) string {
	if _, ok := t.m[name]; !ok {
		t.asked = append(t.asked, name)
		return fallback
	}
	return t.oneOf(name, allowed...)
}

// textOr is text for an optional key, which is empty if it is missing.
func (t *table) textOr(name string) string {
	if _, ok := t.m[name]; !ok {
		t.asked = append(t.asked, name)
		return ""
	}
	return t.text(name)
}

// integer reads a whole number of lo..hi.
func (t *table) integer(name string, lo, hi int64) int64 {
	v, ok := t.take(name, true)
	if !ok {
		return lo
	}
	return t.integerValue(t.key(name), v, lo, hi)
}

// integerOr is integer for an optional key.
func (t *table) integerOr(name string, fallback, lo, hi int64) int64 {
	v, ok := t.take(name, false)
	if !ok {
		return fallback
	}
	return t.integerValue(t.key(name), v, lo, hi)
}

func (t *table) integerValue(path string, v any, lo, hi int64) int64 {
	n, isInt := v.(int64)
	switch {
	case !isInt:
		t.add(path, "is %s; it must be a whole number %d..%d", typeName(v), lo, hi)
	case n < lo || n > hi:
		t.add(path, "is %d; it must be %d..%d", n, lo, hi)
	default:
		return n
	}
	return lo
}

// number reads a number, whole or not, of lo..hi, lo included only if atLeast.
func (t *table) number(name string, lo float64, atLeast bool, hi float64) float64 {
	v, ok := t.take(name, true)
	if !ok {
		return hi
	}
	var f float64
	switch n := v.(type) {
	case int64:
		f = float64(n)
	case float64:
		f = n
	default:
		t.add(t.key(name), "is %s; it must be a number", typeName(v))
		return hi
	}
	if math.IsNaN(f) || f < lo || (f == lo && !atLeast) || f > hi {
		relation := "above"
		if atLeast {
			relation = "at least"
		}
		t.add(t.key(name), "is %v; it must be %s %v and at most %v", f, relation, lo, hi)
		return hi
	}
	return f
}

// boolean reads an optional truth value.
func (t *table) boolean(name string, fallback bool) bool {
	v, ok := t.take(name, false)
	if !ok {
		return fallback
	}
	b, isBool := v.(bool)
	if !isBool {
		t.add(t.key(name), "is %s; it must be true or false", typeName(v))
		return fallback
	}
	return b
}

// items reads a list that is not empty and gives each of its values to read, which returns a value to compare for
// duplicates.
func (t *table) items(name string, required bool, read func(path string, v any) any) {
	v, ok := t.take(name, required)
	if !ok {
		return
	}
	list, isList := v.([]any)
	if !isList {
		t.add(t.key(name), "is %s; it must be a list", typeName(v))
		return
	}
	if len(list) == 0 {
		t.add(t.key(name), "is an empty list; it must have at least one value")
	}
	seen := map[any]bool{}
	for i, v := range list {
		path := fmt.Sprintf("%s[%d]", t.key(name), i)
		x := read(path, v)
		if x != nil && seen[x] {
			t.add(path, "%v is there twice", quoted(x))
		}
		seen[x] = true
	}
}

// names reads a list of different names.
func (t *table) names(name string, required bool) []string {
	var names []string
	t.items(name, required, func(path string, v any) any {
		s := t.nameValue(path, v)
		names = append(names, s)
		return s
	})
	return names
}

// cellNames reads a list of names of cells, which may be there more than once.
func (t *table) cellNames(name string) []string {
	var names []string
	t.items(name, true, func(path string, v any) any {
		names = append(names, t.nameValue(path, v))
		return nil
	})
	return names
}

// columns reads an optional list of different names of columns.
func (t *table) columns(name string) []string {
	var names []string
	t.items(name, false, func(path string, v any) any {
		s, isString := v.(string)
		if !isString || s == "" {
			t.add(path, "is %v; it must be the name of a column", quoted(v))
		}
		names = append(names, s)
		return s
	})
	return names
}

// integers reads a list of different whole numbers of lo..hi.
func (t *table) integers(name string, lo, hi int64) []int { return t.integerList(name, true, lo, hi) }

// integersOr is integers for an optional key, which is empty if it is missing.
func (t *table) integersOr(name string, lo, hi int64) []int {
	return t.integerList(name, false, lo, hi)
}

func (t *table) integerList(name string, required bool, lo, hi int64) []int {
	var numbers []int
	t.items(name, required, func(path string, v any) any {
		before := len(t.found)
		n := t.integerValue(path, v, lo, hi)
		if len(t.found) > before {
			return nil
		}
		numbers = append(numbers, int(n))
		return n
	})
	return numbers
}

// settings reads a table of settings: strings and whole numbers by name. It is empty if the key is missing.
func (t *table) settings(name string) map[string]string {
	m := map[string]string{}
	v, ok := t.take(name, false)
	if !ok {
		return m
	}
	values, isTable := v.(map[string]any)
	if !isTable {
		t.add(t.key(name), "is %s; it must be a table of settings", typeName(v))
		return m
	}
	for _, k := range slices.Sorted(maps.Keys(values)) {
		switch v := values[k].(type) {
		case string:
			m[k] = v
		case int64:
			m[k] = strconv.FormatInt(v, 10)
		default:
			t.add(t.key(name)+"."+k, "is %s; the value of a setting is a string or a whole number", typeName(v))
		}
	}
	return m
}

// table reads a table that must be there.
func (t *table) table(name string) *table {
	v, ok := t.take(name, true)
	m, isTable := v.(map[string]any)
	if ok && !isTable {
		t.add(t.key(name), "is %s; it must be a table: [%s]", typeName(v), t.key(name))
	}
	if !isTable {
		return nil
	}
	return &table{problems: t.problems, path: t.key(name), m: m}
}

// tables reads an array of tables.
func (t *table) tables(name string, required bool) []*table {
	v, ok := t.take(name, false)
	list, isList := v.([]any)
	if ok && !isList {
		t.add(t.key(name), "is %s; it must be a list of tables: [[%s]]", typeName(v), name)
		return nil
	}
	if len(list) == 0 && required {
		t.add(t.key(name), "is missing; there must be at least one [[%s]]", name)
	}
	var tables []*table
	for i, v := range list {
		path := fmt.Sprintf("%s[%d]", t.key(name), i)
		m, isTable := v.(map[string]any)
		if !isTable {
			t.add(path, "is %s; it must be a table", typeName(v))
			continue
		}
		tables = append(tables, &table{problems: t.problems, path: path, m: m})
	}
	return tables
}

func typeName(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "a whole number"
	case float64:
		return "a number with a point"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	default:
		return "a date or time"
	}
}

// quoted renders a value of a plan for a message.
func quoted(v any) string {
	switch v := v.(type) {
	case string:
		return strconv.Quote(v)
	case int64, bool, float64:
		return fmt.Sprint(v)
	default:
		return typeName(v)
	}
}

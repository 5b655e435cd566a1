// Package lint holds tests of the source as a whole.
package lint

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path of the module, under which our own packages lie.
const module = "tpccbench"

// room is one row of the import table.
type room struct {
	name string // folder of the package
	// ours lists the packages of ours that it may import; tests those that its tests may import besides, and besides
	// itself. outside lists the modules that it may import, testsOutside those that its tests may import besides.
	ours, tests           []string
	outside, testsOutside []string
	never                 []string // packages of the standard library that it must not import, tests excepted
	later                 bool     // it need not be there yet
}

const (
	sysUnix   = "golang.org/x/sys"
	rapid     = "pgregory.net/rapid"
	hdr       = "github.com/HdrHistogram/hdrhistogram-go"
	procfs    = "github.com/prometheus/procfs"
	gonum     = "gonum.org/v1/gonum"
	gonumPlot = "gonum.org/v1/plot"
	perf      = "golang.org/x/perf"
	toml      = "github.com/pelletier/go-toml/v2"
	sqlite3   = "github.com/mattn/go-sqlite3"
	internal  = "github.com/rogpeppe/go-internal"
	pebbleKV  = "github.com/cockroachdb/pebble/v2"
	badgerKV  = "github.com/dgraph-io/badger/v4"
	bboltKV   = "go.etcd.io/bbolt"
	jsonExp   = "github.com/go-json-experiment/json"
)

// layers is the table of ARCHITECTURE.md as imports: a room may import only what its row says, and only rooms above
// it in this list, so that imports run in one direction.
var layers = []room{
	// Rounds and seeds of the random tests; imported by tests only.
	{name: "internal/attack"},
	// No os, no clock: a seed decides everything. See also TestNoGlobalRandomness.
	{name: "tpcc", never: []string{"os", "time"}, testsOutside: []string{gonum, rapid}},
	{name: "tpcc/consistency", ours: []string{"tpcc"}, never: []string{"os", "time"}, testsOutside: []string{rapid}},
	{name: "engines", ours: []string{"tpcc"}},
	{name: "engines/enginetest/model", ours: []string{"tpcc", "engines"}, tests: []string{"engines/enginetest"}, testsOutside: []string{rapid}},
	{name: "engines/enginetest", ours: []string{"tpcc", "tpcc/consistency", "engines", "engines/enginetest/model"}, outside: []string{sysUnix, rapid}},

	// The adapters know neither each other nor the driver.
	{name: "engines/null", ours: []string{"tpcc", "engines"}, tests: []string{"engines/enginetest"}},
	{name: "engines/pure/store/fs", outside: []string{sysUnix}, testsOutside: []string{rapid}},
	{name: "engines/pure/store/reclog", ours: []string{"engines/pure/store/fs"}, testsOutside: []string{rapid}},
	{name: "engines/pure/store", ours: []string{"engines/pure/store/fs", "engines/pure/store/reclog"}, tests: []string{"internal/attack"}, outside: []string{sysUnix}, testsOutside: []string{rapid}},
	{name: "engines/pure", ours: []string{"tpcc", "engines", "engines/pure/store", "engines/pure/store/fs"}, never: []string{"database/sql"},
		tests: []string{"tpcc/consistency", "engines/enginetest", "engines/enginetest/model"}, outside: []string{sysUnix}, testsOutside: []string{rapid}},
	{name: "engines/internal/sqltpcc", ours: []string{"tpcc", "engines"}, outside: []string{sqlite3, sysUnix}, never: []string{"database/sql"},
		tests: []string{"engines/enginetest", "engines/enginetest/model"}},
	{name: "engines/internal/sqltpcc/sqlbench", ours: []string{"tpcc", "engines"}},
	{name: "engines/internal/sqltpcc/sqltest", ours: []string{"engines", "tpcc"}},
	{name: "engines/sqlite", ours: []string{"tpcc", "engines", "engines/internal/sqltpcc"}, outside: []string{sysUnix}, never: []string{"database/sql"},
		tests: []string{"engines/enginetest", "engines/internal/sqltpcc/sqlbench", "engines/internal/sqltpcc/sqltest"}},
	{name: "engines/sqlitegrouped", ours: []string{"tpcc", "engines", "engines/internal/sqltpcc"}, outside: []string{sysUnix}, never: []string{"database/sql"},
		tests: []string{"engines/enginetest", "engines/internal/sqltpcc/sqlbench", "engines/internal/sqltpcc/sqltest"}},
	{name: "engines/internal/kvtpcc", ours: []string{"tpcc", "engines"}, outside: []string{sysUnix}, tests: []string{"engines/enginetest/model"}},
	{name: "engines/pebble", ours: []string{"tpcc", "engines", "engines/internal/kvtpcc"}, outside: []string{pebbleKV}, never: []string{"database/sql"},
		tests: []string{"engines/enginetest"}},
	{name: "engines/badger", ours: []string{"tpcc", "engines", "engines/internal/kvtpcc"}, outside: []string{badgerKV, sysUnix}, never: []string{"database/sql"},
		tests: []string{"engines/enginetest"}},
	{name: "engines/bbolt", ours: []string{"tpcc", "engines", "engines/internal/kvtpcc"}, outside: []string{bboltKV}, never: []string{"database/sql"},
		tests: []string{"engines/enginetest"}},
	{name: "engines/lmdb", ours: []string{"tpcc", "engines", "engines/internal/kvtpcc"}, never: []string{"database/sql"},
		tests: []string{"engines/enginetest"}},

	{name: "procsample", outside: []string{sysUnix, procfs}, testsOutside: []string{"golang.org/x/tools"}},
	{name: "emulate", ours: []string{"procsample"}, outside: []string{sysUnix, procfs, toml}},
	{name: "probe", ours: []string{"procsample", "emulate"}, outside: []string{sysUnix, hdr}},
	{name: "driver", ours: []string{"tpcc", "tpcc/consistency", "engines"}, outside: []string{hdr, sysUnix}, tests: []string{"engines/null"}, testsOutside: []string{rapid}},
	// Any engine over HTTP: it knows the contract, and no adapter.
	{name: "wire", ours: []string{"tpcc", "engines", "procsample"}, outside: []string{jsonExp},
		tests: []string{"tpcc/consistency", "engines/enginetest", "engines/null", "engines/pure", "driver"}},
	{name: "record", ours: []string{"tpcc"}},
	{name: "matrix", outside: []string{toml}, testsOutside: []string{rapid}},
	{name: "audit", ours: []string{"tpcc", "tpcc/consistency", "engines", "driver"}, tests: []string{"engines/null", "engines/enginetest/model"}, outside: []string{sysUnix}},
	// The child of a run measures what the driver alone costs, with the null engine; it is given all other engines.
	{name: "study", ours: []string{"tpcc", "tpcc/consistency", "engines", "engines/null", "procsample", "emulate", "probe", "driver", "wire", "record", "matrix"},
		tests: []string{"engines/enginetest/model", "engines/pure"}, outside: []string{sysUnix, hdr, "golang.org/x/term"}},
	// Summaries of a few figures; it knows no study.
	{name: "report/stats", outside: []string{perf, gonum}, testsOutside: []string{rapid}},
	{name: "report", ours: []string{"tpcc", "record", "matrix", "report/stats"}, outside: []string{perf, hdr}},
	// Pictures of plain numbers; it knows no study.
	{name: "report/plot", outside: []string{gonumPlot, "golang.org/x/image"}},
	{name: "report/page", ours: []string{"tpcc", "record", "matrix", "procsample", "emulate", "probe", "report", "report/stats", "report/plot"}, outside: []string{hdr}},
	// One file per subcommand, and the only list of engines.
	{name: "cmd/tpccbench", ours: []string{"tpcc", "tpcc/consistency", "engines", "engines/null", "engines/pure", "engines/pure/store", "engines/sqlite", "engines/sqlitegrouped",
		"engines/bbolt", "engines/lmdb", "engines/pebble", "engines/badger",
		"procsample", "emulate", "probe", "driver", "record", "matrix", "audit", "study", "report", "report/page"}, outside: []string{"github.com/spf13/cobra", "golang.org/x/term", sysUnix},
		tests: []string{"engines/pure/store/fs", "internal/attack"}, testsOutside: []string{internal, hdr}},
	{name: "internal/lint"},
}

// source is what a package imports, each import with one file that has it.
type source struct {
	imports, testImports map[string]string
}

// readSource reads the imports of all Go files below root, for every system and build tag.
func readSource(root string) (map[string]source, error) {
	packages := map[string]source{}
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := e.Name()
		if e.IsDir() {
			if file != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		dir := path.Dir(relative)
		p, ok := packages[dir]
		if !ok {
			p = source{map[string]string{}, map[string]string{}}
			packages[dir] = p
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if strings.HasSuffix(name, "_test.go") {
				p.testImports[imported] = relative
			} else {
				p.imports[imported] = relative
			}
		}
		return nil
	})
	return packages, err
}

// check returns all that the packages do against the table, sorted.
func check(packages map[string]source, layers []room) []string {
	var found []string
	table := map[string]room{}
	for _, r := range layers {
		table[r.name] = r
		if _, ok := packages[r.name]; !ok && !r.later {
			found = append(found, fmt.Sprintf("%s: is in the table but has no Go file", r.name))
		}
	}
	for dir, p := range packages {
		r, ok := table[dir]
		if !ok {
			found = append(found, fmt.Sprintf("%s: is not in the table: say there what it may import", dir))
			continue
		}
		for imported, file := range p.imports {
			if !r.mayImport(imported, false) {
				found = append(found, fmt.Sprintf("%s: %s must not import %s", file, dir, imported))
			}
		}
		for imported, file := range p.testImports {
			if !r.mayImport(imported, true) {
				found = append(found, fmt.Sprintf("%s: the tests of %s must not import %s", file, dir, imported))
			}
		}
	}
	slices.Sort(found)
	return found
}

func (r *room) mayImport(imported string, test bool) bool {
	if own, ok := strings.CutPrefix(imported, module+"/"); ok {
		return slices.Contains(r.ours, own) || test && (own == r.name || slices.Contains(r.tests, own))
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") { // standard library
		return test || !within(imported, r.never)
	}
	return within(imported, r.outside) || test && within(imported, r.testsOutside)
}

// within says whether the import is one of the modules or packages, or inside of one.
func within(imported string, list []string) bool {
	return slices.ContainsFunc(list, func(m string) bool { return imported == m || strings.HasPrefix(imported, m+"/") })
}

func readModule(t *testing.T) map[string]source {
	t.Helper()
	packages, err := readSource(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// The source keeps to the table.
func TestLayers(t *testing.T) {
	for _, problem := range check(readModule(t), layers) {
		t.Error(problem)
	}
}

// The table itself lets imports run in one direction only, and names no room twice.
func TestTableRunsDownward(t *testing.T) {
	above := map[string]bool{}
	for _, r := range layers {
		for _, own := range r.ours {
			if !above[own] {
				t.Errorf("%s may import %s, which does not stand above it", r.name, own)
			}
		}
		if above[r.name] {
			t.Errorf("%s is there twice", r.name)
		}
		above[r.name] = true
	}
}

// Each forbidden import that ARCHITECTURE.md names is reported when it is put into the real source, alone.
func TestForbiddenImportsAreFound(t *testing.T) {
	ours := func(name string) string { return module + "/" + name }
	for _, c := range []struct {
		dir, imported string
		test          bool
	}{
		{"tpcc", ours("engines"), false},
		{"tpcc", "os", false},
		{"tpcc", "time", false},
		{"tpcc", "os/exec", false},
		{"tpcc/consistency", ours("engines"), false},
		{"tpcc/consistency", ours("driver"), false},
		{"engines", ours("driver"), false},
		{"engines", ours("engines/pure"), false},
		{"engines/enginetest", ours("engines/pure"), false},
		{"engines/enginetest", ours("engines/sqlite"), true},
		{"engines/pure", ours("driver"), false},
		{"engines/pure", ours("engines/internal/sqltpcc"), false},
		{"engines/pure", "database/sql", false},
		{"engines/pure/store", ours("tpcc"), false},
		{"engines/pure/store", ours("engines"), false},
		{"engines/pure/store", ours("tpcc"), true},
		{"engines/pure/store/reclog", ours("engines/pure/store"), false},
		{"engines/pure/store/fs", ours("engines/pure/store"), false},
		{"engines/internal/sqltpcc", ours("driver"), false},
		{"engines/internal/sqltpcc", ours("engines/sqlite"), false},
		{"engines/internal/sqltpcc", "database/sql", false},
		{"engines/sqlite", ours("engines/sqlitegrouped"), false},
		{"engines/sqlitegrouped", ours("engines/sqlite"), false},
		{"procsample", ours("tpcc"), false},
		{"driver", ours("engines/pure"), false},
		{"driver", ours("matrix"), false},
		{"driver", ours("record"), false},
		{"driver", "github.com/spf13/cobra", false},
		{"driver", ours("study"), true},
		{"wire", ours("driver"), false},
		{"wire", ours("engines/pure"), false},
		{"record", ours("engines"), false},
		{"record", ours("matrix"), false},
		{"matrix", ours("driver"), false},
		{"matrix", ours("engines"), false},
		{"matrix", ours("record"), true},
		{"audit", ours("engines/pure"), false},
		{"study", ours("engines/pure"), false},
		{"study", ours("engines/sqlite"), true},
		{"study", "github.com/spf13/cobra", false},
		{"cmd/tpccbench", ours("engines/internal/sqltpcc"), false},
	} {
		packages := readModule(t)
		before := check(packages, layers)
		p := packages[c.dir]
		want := fmt.Sprintf("changed.go: %s must not import %s", c.dir, c.imported)
		if c.test {
			want = fmt.Sprintf("changed.go: the tests of %s must not import %s", c.dir, c.imported)
			p.testImports[c.imported] = "changed.go"
		} else {
			p.imports[c.imported] = "changed.go"
		}
		got := slices.DeleteFunc(check(packages, layers), func(s string) bool { return slices.Contains(before, s) })
		if len(got) != 1 || got[0] != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A package that nobody has given a place is found, and so is a place without a package.
func TestUnknownPackageIsFound(t *testing.T) {
	packages := readModule(t)
	before := check(packages, layers)
	packages["util"] = source{}
	delete(packages, "driver")
	got := slices.DeleteFunc(check(packages, layers), func(s string) bool { return slices.Contains(before, s) })
	want := []string{"driver: is in the table but has no Go file", "util: is not in the table: say there what it may import"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The reader sees imports of packages and of their tests apart, whatever the file is built for, and no testdata.
func TestReadSource(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/a.go":              "package a\nimport \"os\"\n",
		"a/a_windows.go":      "//go:build never\npackage a\nimport renamed \"time\"\n",
		"a/a_test.go":         "package a_test\nimport _ \"testing\"\n",
		"a/testdata/x/bad.go": "package x\nimport \"net\"\n",
		"a/notes.txt":         "import \"net\"\n",
		".hidden/h.go":        "package h\nimport \"net\"\n",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packages, err := readSource(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) != 1 {
		t.Errorf("packages %v, want a alone", slices.Sorted(maps.Keys(packages)))
	}
	if got := slices.Sorted(maps.Keys(packages["a"].imports)); !slices.Equal(got, []string{"os", "time"}) {
		t.Errorf("imports %v", got)
	}
	if got := slices.Sorted(maps.Keys(packages["a"].testImports)); !slices.Equal(got, []string{"testing"}) {
		t.Errorf("imports of tests %v", got)
	}
}

package report

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var seed = flag.Uint64("seed", 0, "seed of the random edits; 0: another each time")

// One digit of the plan, of a raw record or of the table, changed anywhere to any other after the run, is named with
// its file.
func TestAnyDigit(t *testing.T) {
	n := *seed
	if n == 0 {
		n = uint64(time.Now().UnixNano())
	}
	t.Logf("go test ./report -run TestAnyDigit -seed %d", n)
	random := rand.New(rand.NewPCG(n, 0))
	dir := newFixture(t).write()
	records, err := filepath.Glob(filepath.Join(dir, "raw", "*.json"))
	if err != nil || len(records) == 0 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	const digits = "0123456789"
	edits := 60
	if testing.Short() {
		edits = 15
	}
	for i := range edits {
		path := []string{filepath.Join(dir, "plan.toml"), filepath.Join(dir, "matrix.csv"), records[random.IntN(len(records))]}[i%3]
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		edited := append([]byte(nil), whole...)
		at := random.IntN(len(edited))
		for !strings.ContainsRune(digits, rune(edited[at])) {
			at = (at + 1) % len(edited)
		}
		old := edited[at]
		for edited[at] == old {
			edited[at] = digits[random.IntN(len(digits))]
		}
		if err := os.WriteFile(path, edited, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		file, err := filepath.Rel(dir, path)
		if err != nil {
			t.Fatal(err)
		}
		named := false
		for _, p := range s.Problems {
			named = named || p.IsIntegrity() && p.File == file
		}
		if !named {
			t.Errorf("%s, byte %d, %c for %c (%q): not named among %v", file, at, edited[at], old,
				edited[max(0, at-30):min(len(edited), at+10)], s.Problems)
		}
		if err := os.WriteFile(path, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

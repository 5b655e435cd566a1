package record

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestReadmeColumns holds the table of columns in results/README.md to Columns.
func TestReadmeColumns(t *testing.T) {
	const path, begin, end = "../results/README.md", "<!-- columns -->\n", "<!-- end of columns -->\n"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	head, rest, ok := strings.Cut(text, begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no lines %q and %q", path, begin, end)
	}
	var table strings.Builder
	fmt.Fprintln(&table, "| column | meaning |\n|---|---|")
	for _, c := range Columns {
		fmt.Fprintf(&table, "| `%s` | %s |\n", c.Name, c.Doc)
	}
	want := head + begin + table.String() + end + tail
	if text == want {
		return
	}
	if !*update {
		t.Fatalf("%s does not have the columns as they are; go test ./record -update writes them", path)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

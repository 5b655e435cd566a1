package page

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tpccbench/report"
)

// grid is a table: its fields by the first field of their row and the heading of their column.
type grid map[string]map[string]string

func gridOf(head []string, rows [][]string) grid {
	g := grid{}
	for _, row := range rows {
		g[row[0]] = map[string]string{}
		for i, name := range head {
			g[row[0]][name] = row[i]
		}
	}
	return g
}

// pageGrid reads the table of a page whose caption begins so, without the marks of notes.
func pageGrid(t *testing.T, page, caption string) grid {
	t.Helper()
	text := regexp.MustCompile(`<sup>[^<]*</sup>`).ReplaceAllString(page, "")
	var lines [][]string
	for line := range strings.Lines(tableOf(t, text, html.EscapeString(caption))) {
		if fields := strings.Split(strings.TrimSpace(line), " | "); len(fields) > 1 {
			fields[len(fields)-1] = strings.TrimSuffix(fields[len(fields)-1], " |")
			lines = append(lines, fields)
		}
	}
	return gridOf(lines[0], lines[1:])
}

// markdownGrid reads the table below a heading.
func markdownGrid(t *testing.T, markdown, heading string) grid {
	t.Helper()
	_, rest, ok := strings.Cut(markdown, "## "+heading+"\n")
	if !ok {
		t.Fatalf("tables.py prints no %q", heading)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	var lines [][]string
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "| ") {
			lines = append(lines, strings.Split(strings.Trim(line, "| "), " | "))
		}
	}
	return gridOf(lines[0], lines[1:])
}

// tables.py goes another way from the same raw records, with nothing of this program: both say the same.
func TestTablesAgree(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	dirs := []string{fixture{}.write(t)}
	committed := filepath.Join("..", "..", "results", "preregistered")
	if _, err := os.Stat(committed); err == nil {
		dirs = append(dirs, committed)
	}
	for _, dir := range dirs {
		out, err := exec.Command(python, filepath.Join("..", "..", "tables.py"), dir).Output()
		must(t, err)
		s, err := report.Load(dir)
		must(t, err)
		compareTables(t, s, render(t, s, nil), string(out))
	}
}

func compareTables(t *testing.T, s *report.Study, page, markdown string) {
	t.Helper()
	compared := 0
	same := func(where, ours, theirs string) {
		t.Helper()
		compared++
		if ours = strings.ReplaceAll(ours, "–", "-"); ours != theirs {
			t.Errorf("%s: %s: the page says %q, tables.py %q", s.Registration.Study, where, ours, theirs)
		}
	}
	gs := groups(s)
	for _, device := range devices(gs) {
		theirs := markdownGrid(t, markdown, "Matrix on "+device)
		rates := pageGrid(t, page, "Transactions per second on "+device)
		times := pageGrid(t, page, "New-Order on "+device)
		for row, fields := range theirs {
			for w, g := range of(gs, device) {
				where := fmt.Sprintf("%s, %s", g.name(), row)
				column := fmt.Sprintf("transactions/s, W=%d", g.W)
				same(where, rates[row][column], fields[column])
				for _, p := range []string{"p50", "p99"} {
					values := strings.Split(fields["New-Order "+p+" (ms)"], " / ")
					same(where+", "+p, times[row][fmt.Sprintf("%s, W=%d", p, g.W)], values[w])
				}
			}
		}
	}
	if cells := 3 * len(s.Cells); compared != cells {
		t.Errorf("%s: %d figures were compared, not %d", s.Registration.Study, compared, cells)
	}
}

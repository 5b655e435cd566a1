package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"tpccbench/record"
	"tpccbench/report/stats"
	"tpccbench/tpcc"
)

// Comparison is two studies side by side: the cells of the matrix that both have, column by column.
type Comparison struct {
	A, B         *Study
	Warnings     []string // in what the two are not alike
	OnlyA, OnlyB []string // names of cells
	Rows         []ComparisonRow
}

// ComparisonRow is one column of one cell in both studies. Rounds of different studies are not paired.
type ComparisonRow struct {
	Cell   string
	Column string
	stats.Difference
	Band *Band // the wider of the two studies' A/A bands; nil if neither has a pair on the device
}

// DefaultColumns are the columns that a comparison shows unless others are asked for.
func DefaultColumns() []string {
	columns := []string{"tx_per_s", "cpu_us_per_tx", "device_bytes_per_tx", "log_bytes_per_tx", "peak_rss_bytes"}
	for _, t := range tpcc.Types {
		columns = append(columns, "latency_ns_p99_"+t.String())
	}
	return columns
}

// Compare compares the columns of the cells that both studies have. A column that neither study has for a cell makes no
// row. A ratio within the A/A band of either study is no difference, whatever the test says.
func Compare(a, b *Study, columns []string) *Comparison {
	c := &Comparison{A: a, B: b, Warnings: differences(a, b)}
	for _, x := range a.Cells {
		y, ok := b.Cell(x.Name)
		if !ok {
			c.OnlyA = append(c.OnlyA, x.Name)
			continue
		}
		for _, what := range cellDifferences(x, y) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("cell %s: %s", x.Name, what))
		}
		for _, column := range columns {
			u, v := x.Values(column), y.Values(column)
			if len(u.Values)+len(v.Values) == 0 {
				continue
			}
			row := ComparisonRow{Cell: x.Name, Column: column, Difference: stats.Compare(u.Values, v.Values)}
			for _, s := range []*Study{a, b} {
				if band, ok := s.Band(x.Device, column); ok && (row.Band == nil || band.Factor > row.Band.Factor) {
					row.Band = &band
				}
			}
			if row.Outcome == stats.Differ && row.Band != nil && row.Band.Contains(row.Ratio) {
				row.Outcome = stats.Same
			}
			c.Rows = append(c.Rows, row)
		}
	}
	for _, y := range b.Cells {
		if _, ok := a.Cell(y.Name); !ok {
			c.OnlyB = append(c.OnlyB, y.Name)
		}
	}
	return c
}

// differences names in what two studies are not alike, so that a reader knows what a difference may come from.
func differences(a, b *Study) []string {
	var found []string
	differ := func(what, x, y string) {
		if x != y {
			found = append(found, fmt.Sprintf("%s: A has %s, B has %s", what, firstOf(x, "none"), firstOf(y, "none")))
		}
	}
	for _, s := range []*Study{a, b} {
		if e := s.Emulations(); len(e) > 0 {
			found = append(found, fmt.Sprintf("%s has an emulation, no real card: %s", s.Dir, strings.Join(e, ", ")))
		}
		if s.Standing() != "registered" {
			found = append(found, fmt.Sprintf("%s is %s: %s", s.Dir, s.Standing(), s.WhyStanding()))
		}
		if !s.IsWhole() {
			found = append(found, fmt.Sprintf("%s is not whole; see tpccbench verdict", s.Dir))
		}
	}
	differ("machine", machineWords(a.Registration.Machine), machineWords(b.Registration.Machine))
	differ("plan", short(a.Registration.Plan.PlanSHA256), short(b.Registration.Plan.PlanSHA256))
	differ("commit of the program", short(a.Registration.Build.ToolCommit), short(b.Registration.Build.ToolCommit))
	differ("Go", a.Registration.Build.GoVersion, b.Registration.Build.GoVersion)
	differ("CGO_CFLAGS", a.Registration.Build.CGOCFlags, b.Registration.Build.CGOCFlags)
	if a.Plan == nil || b.Plan == nil {
		return found
	}
	differ("seed", fmt.Sprint(a.Plan.Seed), fmt.Sprint(b.Plan.Seed))
	differ("mix", fmt.Sprint(a.Plan.Mix), fmt.Sprint(b.Plan.Mix))
	for _, d := range a.Plan.Devices {
		if _, ok := b.Plan.Device(d.Name); ok {
			differ("file system of device "+d.Name, a.storageWords(d.Name), b.storageWords(d.Name))
		}
	}
	return found
}

func short(hash string) string { return hash[:min(12, len(hash))] }

// storageWords names the file system and the block devices of the first run on the device.
func (s *Study) storageWords(device string) string {
	for _, r := range s.Runs {
		if r.Spec.Device != device {
			continue
		}
		var m struct {
			FSType string   `json:"fs_type"`
			On     []string `json:"on"`
			Blocks []struct {
				Model string `json:"model"`
				Size  int64  `json:"size_bytes"`
			} `json:"blocks"`
		}
		if json.Unmarshal(r.Storage, &m) != nil {
			return ""
		}
		words := append([]string{m.FSType}, m.On...)
		for _, b := range m.Blocks {
			words = append(words, strings.TrimSpace(fmt.Sprintf("%s %.0f GB", b.Model, float64(b.Size)/1e9)))
		}
		return strings.Join(words, " ")
	}
	return ""
}

// cellDifferences names in what two cells of one name were not asked for alike.
func cellDifferences(a, b *Cell) []string {
	var found []string
	if x, y := record.SettingsText(a.given()), record.SettingsText(b.given()); x != y {
		found = append(found, fmt.Sprintf("settings: A has {%s}, B has {%s}", x, y))
	}
	if a.Seconds != b.Seconds || a.WarmUpSeconds != b.WarmUpSeconds {
		found = append(found, fmt.Sprintf("length: A has %s s after %s s, B has %s s after %s s", number(a.Seconds), number(a.WarmUpSeconds),
			number(b.Seconds), number(b.WarmUpSeconds)))
	}
	return found
}

// given are the settings that the cell's runs were given.
func (c *Cell) given() map[string]string {
	for _, r := range c.Results() {
		return r.Spec.Settings
	}
	return c.Settings
}

// names says which two studies are compared and how each stands.
func (c *Comparison) names() []string {
	return []string{fmt.Sprintf("A is %s (%s)", c.A.Standing(), c.A.Dir), fmt.Sprintf("B is %s (%s)", c.B.Standing(), c.B.Dir)}
}

// WriteText writes the comparison for a terminal.
func (c *Comparison) WriteText(w io.Writer) error { return c.layout().writeText(w) }

// WriteMarkdown writes the comparison as markdown.
func (c *Comparison) WriteMarkdown(w io.Writer) error { return c.layout().writeMarkdown(w) }

func (c *Comparison) layout() *layout {
	l := new(layout)
	l.add(list(c.names()))
	if len(c.Warnings) > 0 {
		l.add(heading{2, "Warnings: the two are not alike"})
		l.add(list(c.Warnings))
	}
	l.add(line{words: "Medians, with the interval of 95 % or more in brackets from six rounds on, else with the range in parentheses; the " +
		"ratio of the medians, with the quotient of the intervals; p of the two-sided Mann-Whitney U test."})
	columns := []string{}
	for _, r := range c.Rows {
		if !slices.Contains(columns, r.Column) {
			columns = append(columns, r.Column)
		}
	}
	for _, column := range columns {
		g := grid{header: []string{"cell", "A", "n", "B", "n", "B / A", "p", "outcome"}}
		for i := range c.Rows {
			if r := &c.Rows[i]; r.Column == column {
				g.rows = append(g.rows, []string{r.Cell, spreadWords(r.A), strconv.Itoa(r.A.N), spreadWords(r.B), strconv.Itoa(r.B.N),
					r.ratioWords(), finite(r.P, "%.3f"), r.Word()})
			}
		}
		l.add(heading{2, column})
		l.add(g)
	}
	for _, only := range []struct {
		name  string
		cells []string
	}{{"A", c.OnlyA}, {"B", c.OnlyB}} {
		if len(only.cells) > 0 {
			l.add(line{words: fmt.Sprintf("Only %s has %s.", only.name, strings.Join(only.cells, ", "))})
		}
	}
	if len(c.Rows) == 0 {
		l.add(line{words: "No cell is in both."})
	}
	return l
}

// Word is the outcome; of a difference, which way it is.
func (r *ComparisonRow) Word() string {
	if r.Outcome != stats.Differ {
		return r.Outcome
	}
	if r.Ratio > 1 {
		return "B is higher"
	}
	return "B is lower"
}

func (r *ComparisonRow) ratioWords() string {
	text := finite(r.Ratio, "%.3f")
	if i := r.Interval; i != nil {
		text += fmt.Sprintf(" [%.3f-%.3f]", i.Low, i.High)
	}
	return text
}

// finite formats a number that may be none.
func finite(v float64, format string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return fmt.Sprintf(format, v)
}

// spreadWords is the median with its interval in brackets, or with its range in parentheses.
func spreadWords(s stats.Summary) string {
	switch {
	case s.N == 0:
		return "n/a"
	case s.Interval != nil:
		return fmt.Sprintf("%s [%s-%s]", three(s.Median), three(s.Interval.Low), three(s.Interval.High))
	case s.N == 1:
		return three(s.Median)
	}
	return fmt.Sprintf("%s (%s-%s)", three(s.Median), three(s.Min), three(s.Max))
}

// comparisonColumns is the header of WriteCSV.
var comparisonColumns = []string{"standing_a", "standing_b", "cell", "column", "n_a", "median_a", "min_a", "max_a", "low_a", "high_a",
	"n_b", "median_b", "min_b", "max_b", "low_b", "high_b", "ratio", "ratio_low", "ratio_high", "ratio_confidence", "p", "band_factor", "outcome"}

// WriteCSV writes one row per cell and column. low and high are of the interval; an empty field is not known.
func (c *Comparison) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write(comparisonColumns)
	summary := func(s stats.Summary) []string {
		if s.N == 0 {
			return []string{"0", "", "", "", "", ""}
		}
		fields := []string{strconv.Itoa(s.N), number(s.Median), number(s.Min), number(s.Max), "", ""}
		if s.Interval != nil {
			fields[4], fields[5] = number(s.Interval.Low), number(s.Interval.High)
		}
		return fields
	}
	known := func(v float64) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ""
		}
		return number(v)
	}
	for _, r := range c.Rows {
		fields := append([]string{c.A.Standing(), c.B.Standing(), r.Cell, r.Column}, append(summary(r.A), summary(r.B)...)...)
		fields = append(fields, known(r.Ratio))
		if i := r.Interval; i != nil {
			fields = append(fields, number(i.Low), number(i.High), number(i.Confidence))
		} else {
			fields = append(fields, "", "", "")
		}
		band := ""
		if r.Band != nil {
			band = number(r.Band.Factor)
		}
		_ = out.Write(append(fields, known(r.P), band, r.Word()))
	}
	out.Flush()
	return out.Error()
}

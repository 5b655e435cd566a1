package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tpccbench/report"
)

// whole renders a figure without a fraction, with a comma at each thousand.
func whole(v float64) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if v < 0 && s != "0" {
		s = "-" + s
	}
	return s
}

// digits renders three significant digits without an exponent, whole numbers from 100 on.
func digits(v float64) string {
	if math.Abs(v) >= 99.95 {
		return whole(v)
	}
	if v == 0 {
		return "0"
	}
	places := 2 - int(math.Floor(math.Log10(math.Abs(v))+1e-12))
	s := strconv.FormatFloat(v, 'f', min(max(places, 0), 9), 64)
	// 9.996 becomes 10.00: one digit too many.
	if rounded, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(rounded) >= math.Pow(10, float64(3-places)) {
		s = strconv.FormatFloat(v, 'f', max(places-1, 0), 64)
	}
	return s
}

// milliseconds renders a figure in ns as ms.
func milliseconds(v float64) string { return digits(v / 1e6) }

// mib renders bytes as MiB.
func mib(v float64) string { return whole(v / (1 << 20)) }

// percent renders a share, 0..1, in per cent.
func percent(v float64) string { return digits(v*100) + " %" }

// size renders bytes with a unit, by thousands.
func size(v float64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	i := 0
	for math.Abs(v) >= 999.5 && i < len(units)-1 {
		v /= 1000
		i++
	}
	return digits(v) + " " + units[i]
}

// spread is median (lowest-highest) of the sample, or its only value.
func spread(s report.Sample, form func(float64) string) string {
	sum := s.Summary()
	if sum.N == 1 || form(sum.Min) == form(sum.Max) {
		return form(sum.Median)
	}
	return fmt.Sprintf("%s (%s–%s)", form(sum.Median), form(sum.Min), form(sum.Max))
}

// formOf is how figures of a column of the records are rendered.
func formOf(column string) func(float64) string {
	switch {
	case strings.HasSuffix(column, "_bytes"):
		return size
	case strings.HasPrefix(column, "latency_ns"):
		return func(v float64) string { return milliseconds(v) + " ms" }
	case column == "checkpoints" || column == "nopm" || strings.HasPrefix(column, "count_"):
		return whole
	}
	return digits
}

// counted is "1 run", "2 runs".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return whole(float64(n)) + " " + what + "s"
}

// list joins words as a sentence does: a, b and c.
func list(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// sentence is what a picture shows, item by item.
func sentence(items []string) string {
	if len(items) == 0 {
		return "Nothing was measured."
	}
	return strings.Join(items, "; ") + "."
}

package page

import (
	"math"
	"testing"

	"tpccbench/record"
	"tpccbench/report"
)

// The parts of what goes to a device are shares of the whole that never come to more than it, whatever was written late,
// and there are none without a whole and a log.
func TestParts(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		s    split
		want []float64
	}{
		{split{1000, 250, 500}, []float64{0.25, 0.5, 0.25}},
		{split{1000, 250, nan}, []float64{0.25, 0, 0.75}},
		{split{1000, 900, 500}, []float64{0.9, 0.1, 0}},
		{split{1000, 2000, 500}, []float64{1, 0, 0}},
		{split{0, 100, 0}, nil},
		{split{nan, 100, 0}, nil},
		{split{100, nan, 0}, nil},
	} {
		got := c.s.parts()
		if len(got) != len(c.want) {
			t.Errorf("%v has the parts %v, not %v", c.s, got, c.want)
			continue
		}
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-12 {
				t.Errorf("%v has the parts %v, not %v", c.s, got, c.want)
			}
		}
	}
}

// The run that stands for a cell is the one with the median throughput, the lower of the middle two; runs that are no
// results do not count.
func TestTypical(t *testing.T) {
	cell := func(rates ...float64) *report.Cell {
		c := &report.Cell{}
		for i, rate := range rates {
			r := record.New()
			r.Set("tx_per_s", rate)
			c.Rounds = append(c.Rounds, report.Round{Number: i + 1, Run: r})
		}
		return c
	}
	failed := cell(1, 9, 5, 7)
	failed.Rounds[0].Lacks = "it broke a gate"
	for want, c := range map[float64]*report.Cell{5: cell(9, 5, 1), 3: cell(9, 3, 1, 5), 7: failed, 2: cell(2)} {
		if got := typical(c); got.Figures["tx_per_s"] != want {
			t.Errorf("the run with %v stands for the cell, not that with %v", got.Figures["tx_per_s"], want)
		}
	}
	if typical(cell()) != nil {
		t.Error("a cell without a result has a run")
	}
}

// A last second that is cut off is not drawn: its rate would be a dip that there was not.
func TestWholeSeconds(t *testing.T) {
	r := record.New()
	r.Series = make([]record.Second, 4)
	for seconds, want := range map[float64]int{3.2: 3, 3.999: 4, 4: 4, 3: 3} {
		r.Set("seconds", seconds)
		if got := len(wholeSeconds(r)); got != want {
			t.Errorf("%d of 4 seconds are drawn of a window of %v s, not %d", got, seconds, want)
		}
	}
}

// Figures have three significant digits, thousands are apart.
func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{whole(1234567.4), "1,234,567"}, {whole(-1000), "-1,000"}, {whole(999.5), "1,000"}, {whole(0), "0"},
		{digits(0), "0"}, {digits(0.01234), "0.0123"}, {digits(9.996), "10.0"}, {digits(99.96), "100"}, {digits(0.9999), "1.00"}, {digits(12345), "12,345"},
		{size(999.6), "1.00 kB"}, {size(1.5e9), "1.50 GB"}, {size(12), "12.0 B"}, {percent(0.1234), "12.3 %"}, {milliseconds(1_500_000), "1.50"}, {mib(3 << 20), "3"},
		{counted(1, "run"), "1 run"}, {counted(1200, "run"), "1,200 runs"}, {list([]string{"a", "b", "c"}), "a, b and c"}, {list(nil), ""}, {list([]string{"a"}), "a"},
	} {
		if c.got != c.want {
			t.Errorf("%q, not %q", c.got, c.want)
		}
	}
}

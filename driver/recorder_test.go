package driver

import (
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"tpccbench/tpcc"
)

// windowed is a recorder whose window is [start, end) of a clock that has passed end.
func windowed(start, end time.Duration) *recorder {
	c := &clock{zero: time.Now().Add(-2 * end), start: start}
	c.end.Store(int64(end))
	return newRecorder(c, end-start)
}

// TestWindowEdges proves that a transaction counts exactly if it ended inside the window, to the nanosecond, and in
// the second in which it ended.
func TestWindowEdges(t *testing.T) {
	const start, end = 1500 * time.Millisecond, 4 * time.Second
	r := windowed(start, end)
	for _, done := range []time.Duration{
		0, start - 1, // warm-up
		start, start + time.Second - 1, // second 0
		start + time.Second,  // second 1
		end - 1,              // second 2, which is half a second long
		end, end + time.Hour, // in flight at the end
	} {
		r.add([]sample{{done: int64(done), latency: int64(done), typ: tpcc.TxPayment}})
	}
	var result Result
	if err := r.report(&result); err != nil {
		t.Fatal(err)
	}
	checkSums(t, &result)
	var series []int64
	for _, s := range result.Seconds {
		series = append(series, s.Transactions)
	}
	if !slices.Equal(series, []int64{2, 1, 1}) {
		t.Errorf("the series is %v; want 2, 1, 1", series)
	}
	if got := result.Types[tpcc.TxPayment].Latency.MaxNS; got != int64(end-1) {
		t.Errorf("the maximum is %d; want that of the last transaction inside, %d", got, end-1)
	}
	if result.Measured() != end-start {
		t.Errorf("measured %s; want %s", result.Measured(), end-start)
	}
}

// TestSeriesCoversStalls proves that seconds in which nothing ended are in the series.
func TestSeriesCoversStalls(t *testing.T) {
	r := windowed(0, 5*time.Second)
	r.add([]sample{{done: int64(1500 * time.Millisecond), latency: 1}})
	var result Result
	if err := r.report(&result); err != nil {
		t.Fatal(err)
	}
	if len(result.Seconds) != 5 || result.Seconds[1].Transactions != 1 {
		t.Errorf("the series is %+v; want 5 seconds with one transaction in the second one", result.Seconds)
	}
}

// TestSealed proves that a terminal that was stuck changes nothing after the report.
func TestSealed(t *testing.T) {
	r := windowed(0, time.Second)
	var result Result
	if err := r.report(&result); err != nil {
		t.Fatal(err)
	}
	r.add([]sample{{done: 1, latency: 1}})
	r.fail(Failure{})
	var again Result
	if err := r.report(&again); err != nil {
		t.Fatal(err)
	}
	if again.Totals().Attempts != 0 || again.FailuresOfRun != 0 {
		t.Errorf("after the report: %d attempts, %d failures; want none", again.Totals().Attempts, again.FailuresOfRun)
	}
}

// TestFigures proves for random samples that sums agree, that the percentiles rise up to the exact maximum and are
// within the histogram's precision of the exact ones, and that the encoded histogram holds the same.
func TestFigures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const length = 10 * time.Second
		r := windowed(0, length)
		latency := rapid.OneOf(
			rapid.Int64Range(0, 3000), rapid.Int64Range(0, int64(time.Second)), rapid.Int64Range(0, 2*longestNS))
		exact := make(map[tpcc.Type][]int64)
		bySecond := make([][]int64, length/time.Second)
		for n := rapid.IntRange(0, 300).Draw(t, "samples"); n > 0; n-- {
			s := sample{
				done:    rapid.Int64Range(0, int64(length)-1).Draw(t, "done"),
				latency: latency.Draw(t, "latency"),
				typ:     rapid.SampledFrom(tpcc.Types[:]).Draw(t, "type"),
				outcome: rapid.SampledFrom([]outcome{committed, rolledBack, failed}).Draw(t, "outcome"),
			}
			if s.outcome != failed {
				exact[s.typ] = append(exact[s.typ], s.latency)
				n := s.done / int64(time.Second)
				bySecond[n] = append(bySecond[n], s.latency)
			}
			r.add([]sample{s})
		}
		var result Result
		if err := r.report(&result); err != nil {
			t.Fatal(err)
		}
		checkSums(t, &result)
		for i, values := range bySecond {
			checkP99(t, values, result.Seconds[i].P99LatencyNS)
		}
		checkChosen(t, bySecond, &result)
		for _, typ := range tpcc.Types {
			values, latency := exact[typ], result.Types[typ].Latency
			if len(values) == 0 {
				if latency != nil {
					t.Fatalf("%s: latencies %+v of no transaction", typ, latency)
				}
				continue
			}
			slices.Sort(values)
			if latency.MaxNS != values[len(values)-1] {
				t.Fatalf("%s: the maximum is %d; want %d", typ, latency.MaxNS, values[len(values)-1])
			}
			for _, p := range []struct {
				percent float64
				got     int64
			}{{50, latency.P50NS}, {90, latency.P90NS}, {99, latency.P99NS}, {99.9, latency.P999NS}} {
				rank := max(1, min(len(values), int(p.percent/100*float64(len(values))+0.5)))
				want := min(values[rank-1], longestNS)
				// Equal to three significant digits: the upper end of want's bucket, which is 1/1024 of it wide at most.
				if p.got < want-want/1000 || p.got > want+want/1000 {
					t.Fatalf("%s: p%v is %d; want %d", typ, p.percent, p.got, want)
				}
			}
		}
	})
}

// checkP99 compares a percentile of a distribution with that of the values themselves.
func checkP99(t failer, values []int64, got int64) {
	t.Helper()
	if len(values) == 0 {
		if got != 0 {
			t.Fatalf("p99 of no transaction is %d", got)
		}
		return
	}
	slices.Sort(values)
	want := min(values[(99*len(values)+99)/100-1], longestNS)
	if got < want || got > want+want/octaveBuckets || got > values[len(values)-1] {
		t.Fatalf("p99 of %d transactions is %d; want %d, or up to a bucket more, and no more than %d", len(values), got, want, values[len(values)-1])
	}
}

// checkChosen chooses every other second.
func checkChosen(t failer, bySecond [][]int64, r *Result) {
	t.Helper()
	var values []int64
	for i := 0; i < len(bySecond); i += 2 {
		values = append(values, bySecond[i]...)
	}
	got, n := r.P99LatencyNS(func(second int) bool { return second%2 == 0 })
	if n != int64(len(values)) {
		t.Fatalf("%d transactions in the seconds chosen; want %d", n, len(values))
	}
	checkP99(t, values, got)
}

// failer is a *testing.T or a *rapid.T.
type failer interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// checkSums checks what every Result must obey.
func checkSums(t failer, r *Result) {
	t.Helper()
	var bySecond [tpcc.NumTypes]int64
	transactions, failures, longest := int64(0), int64(0), int64(0)
	for i, s := range r.Seconds {
		sum := int64(0)
		for typ, n := range s.ByType {
			bySecond[typ] += n
			sum += n
		}
		if sum != s.Transactions {
			t.Errorf("second %d: %d transactions, by type %d", i, s.Transactions, sum)
		}
		transactions += s.Transactions
		failures += s.Failures
		longest = max(longest, s.MaxLatencyNS)
	}
	totals, longestOfTypes := r.Totals(), int64(0)
	if totals.Completed() != transactions || totals.Failures != failures {
		t.Errorf("the series has %d transactions and %d failures; the totals are %d and %d",
			transactions, failures, totals.Completed(), totals.Failures)
	}
	for i, typ := range r.Types {
		if typ.Attempts != typ.Commits+typ.Rollbacks+typ.Failures {
			t.Errorf("%s: attempts are not commits, rollbacks and failures: %+v", typ.Type, typ.Counts)
		}
		if typ.Completed() != bySecond[i] {
			t.Errorf("%s: %d completed, %d in the series", typ.Type, typ.Completed(), bySecond[i])
		}
		l := typ.Latency
		if l == nil {
			if typ.Completed() != 0 {
				t.Errorf("%s: no latencies of %d transactions", typ.Type, typ.Completed())
			}
			continue
		}
		if l.P50NS > l.P90NS || l.P90NS > l.P99NS || l.P99NS > l.P999NS || l.P999NS > l.MaxNS || l.P50NS < 0 {
			t.Errorf("%s: the percentiles do not rise: %+v", typ.Type, l)
		}
		longestOfTypes = max(longestOfTypes, l.MaxNS)
		h, err := hdrhistogram.Decode([]byte(l.HistogramV2))
		if err != nil {
			t.Fatalf("%s: %v", typ.Type, err)
		}
		if h.TotalCount() != typ.Completed() {
			t.Errorf("%s: the histogram has %d transactions; want %d", typ.Type, h.TotalCount(), typ.Completed())
		}
		if got := min(h.ValueAtPercentile(99), l.MaxNS); got != l.P99NS {
			t.Errorf("%s: p99 of the decoded histogram is %d; want %d", typ.Type, got, l.P99NS)
		}
	}
	if longest != longestOfTypes {
		t.Errorf("the longest latency of the series is %d; by type it is %d", longest, longestOfTypes)
	}
}

package study

import (
	"math"
	"strings"
	"testing"
	"time"

	"tpccbench/driver"
	"tpccbench/engines"
	"tpccbench/engines/null"
	"tpccbench/procsample"
	"tpccbench/record"
	"tpccbench/tpcc"
)

// TestPointsBySecond: each second has the point that ended with it, the last one that of the part that was left; one
// that was taken late, after more than a second, is no second's.
func TestPointsBySecond(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		name    string
		ends    []float64 // of the points, s
		seconds int
		want    []int // the second's point
	}{
		{"on time", []float64{1, 2.001, 3}, 3, []int{0, 1, 2}},
		{"a part of a second is left", []float64{1, 2, 2.3}, 3, []int{0, 1, 2}},
		{"most of a second is left", []float64{1, 1.9}, 2, []int{0, 1}},
		{"one late", []float64{1, 3.002, 4}, 4, []int{0, none, none, 2}},
		{"a point of nothing at the end", []float64{1, 2.0001, 2.0003}, 2, []int{0, 1}},
		{"no points", nil, 2, []int{none, none}},
		{"less than a second", []float64{0.2}, 1, []int{0}},
		{"the window was cut short", []float64{1, 2, 3}, 2, []int{0, 1}},
	} {
		points := make([]procsample.Point, len(c.ends))
		for i, s := range c.ends {
			points[i].ElapsedNS = int64(s * 1e9)
		}
		for second, p := range pointsBySecond(points, c.seconds) {
			got := none
			for i := range points {
				if p == &points[i] {
					got = i
				}
			}
			if got != c.want[second] {
				t.Errorf("%s: second %d has point %d, want %d", c.name, second, got, c.want[second])
			}
		}
	}
}

// TestCheckpointFigures: p99 of the seconds with and without a checkpoint, and why one of them is missing.
func TestCheckpointFigures(t *testing.T) {
	e, err := null.Factory.Open(t.TempDir(), engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := driver.Run(t.Context(), e, driver.Config{
		Scale: tpcc.StandardScale(1), Weights: tpcc.StandardMix(), Terminals: 1, Duration: 1100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Seconds) != 2 {
		t.Fatalf("%d seconds, want 2", len(result.Seconds))
	}
	const unread = "no facts"
	reason := procsample.Value{Reason: unread}
	n := func(n int64) procsample.Value { return procsample.Value{N: n} }
	for _, c := range []struct {
		name        string
		took        int64               // in all, ns
		bySecond    [2]procsample.Value // ns
		in, outside int                 // the second whose p99 it is, from 1; 0: missing
		because     string
	}{
		{"in the first second", 5, [2]procsample.Value{n(5), n(0)}, 1, 2, ""},
		{"in the second one", 5, [2]procsample.Value{n(0), n(5)}, 2, 1, ""},
		{"in one of them, the other is not known", 5, [2]procsample.Value{n(5), reason}, 1, 0, "it is known that no checkpoint ran"},
		{"never, one second is not known", 0, [2]procsample.Value{reason, n(0)}, 0, 2, "a checkpoint is known to have run"},
		{"the engine cannot tell", engines.Unknown, [2]procsample.Value{reason, reason}, 0, 0, "the engine cannot tell"},
	} {
		m := &measurement{result: result, run: record.New(), factsAfter: engines.Facts{CheckpointNS: 100 + c.took, CheckpointBytes: 4096},
			factsBefore: engines.Facts{CheckpointNS: 100}}
		if c.took == engines.Unknown {
			m.factsAfter.CheckpointNS, m.factsAfter.CheckpointBytes = engines.Unknown, engines.Unknown
		}
		for i, ns := range c.bySecond {
			m.points = append(m.points, procsample.Point{ElapsedNS: int64(i+1) * 1e9, ResidentBytes: n(7),
				Counters: []procsample.Value{checkpointBytes: n(4096), checkpointNS: ns}})
		}
		f := &figures{run: m.run, completed: 2}
		m.series()
		f.checkpoints(m)
		for column, second := range map[string]int{"latency_ns_p99_in_checkpoint": c.in, "latency_ns_p99_outside_checkpoint": c.outside} {
			ns, has := m.run.Figures[column]
			if why := m.run.Missing[column]; second == 0 && (has || !strings.Contains(why, c.because)) {
				t.Errorf("%s: %s is %v, missing for %q; want it to be because %q", c.name, column, ns, why, c.because)
			}
			if second > 0 && (!has || ns != float64(result.Seconds[second-1].P99LatencyNS)) {
				t.Errorf("%s: %s is %v; want that of second %d, %d", c.name, column, ns, second, result.Seconds[second-1].P99LatencyNS)
			}
		}
		if c.took == engines.Unknown {
			continue
		}
		if ns, bytes := m.run.Figures["checkpoint_ns"], m.run.Figures["checkpoint_bytes_per_tx"]; ns != float64(c.took) || bytes != 2048 {
			t.Errorf("%s: checkpoint_ns is %v, checkpoint_bytes_per_tx is %v; want %d and 2048", c.name, ns, bytes, c.took)
		}
		for i, s := range m.run.Series {
			if want := pointer(c.bySecond[i]); (s.CheckpointNS == nil) != (want == nil) || want != nil && *s.CheckpointNS != *want ||
				*s.CheckpointBytes != 4096 || *s.RSSBytes != 7 || *s.LatencyNSP99 != result.Seconds[i].P99LatencyNS {
				t.Errorf("%s: second %d of the series is %+v", c.name, i, s)
			}
		}
	}
}

// TestBusyFigures: each part that the engine keeps is a figure, and the others say why they are not.
func TestBusyFigures(t *testing.T) {
	all := map[string]int64{"apply": 4000, "log": 3000, "sync": 2000, "publish": 1000, "answer": 500, "more": 1}
	f := &figures{run: record.New(), completed: 2}
	f.busy(all, map[string]int64{"apply": 1000})
	for part, want := range map[string]float64{"apply": 1.5, "log": 1.5, "sync": 1, "publish": 0.5, "answer": 0.25} {
		if got := f.run.Figures["busy_"+part+"_us_per_tx"]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v us per transaction, want %v", part, got, want)
		}
	}
	f.busy(map[string]int64{"apply": 4000, "commit": 7}, map[string]int64{})
	if got := f.run.Figures["busy_apply_us_per_tx"]; got != 2 {
		t.Errorf("apply: %v us per transaction, want 2", got)
	}
	if why := f.run.Missing["busy_log_us_per_tx"]; !strings.Contains(why, "does not tell this part") {
		t.Errorf("log is missing for %q", why)
	}
	f.busy(nil, nil)
	if why := f.run.Missing["busy_apply_us_per_tx"]; !strings.Contains(why, "does not keep how") {
		t.Errorf("apply is missing for %q", why)
	}
}

package study

import (
	"time"

	"tpccbench/engines"
	"tpccbench/procsample"
	"tpccbench/record"
)

// known is a count of engines.Facts as a figure.
func known(n int64) procsample.Value {
	if n == engines.Unknown {
		return procsample.Value{Reason: "the engine cannot tell"}
	}
	return procsample.Value{N: n}
}

// The counters that are read once per second, by their index in procsample.Point.Counters.
const (
	checkpointBytes = iota
	checkpointNS
)

// checkpointCounters reads what checkpoints have written and how long they took.
func checkpointCounters(e engines.Engine) []procsample.Value {
	f, err := e.Facts()
	if err != nil {
		unread := procsample.Value{Reason: "the engine's facts cannot be read: " + err.Error()}
		return []procsample.Value{unread, unread}
	}
	return []procsample.Value{checkpointBytes: known(f.CheckpointBytes), checkpointNS: known(f.CheckpointNS)}
}

// pointsBySecond finds the point of each second of the window, nil where there is none: an interval that the machine
// was too busy to end in time is of several seconds and says nothing of any one of them. The last second may be a part
// of one.
func pointsBySecond(points []procsample.Point, seconds int) []*procsample.Point {
	found := make([]*procsample.Point, seconds)
	nearest := func(ns int64) int { return int(time.Duration(ns).Round(time.Second) / time.Second) }
	begin := 0
	for i := range points {
		end := nearest(points[i].ElapsedNS)
		if begin < seconds && (end == begin+1 || i == len(points)-1 && end == begin) {
			found[begin] = &points[i]
		}
		begin = end
	}
	return found
}

// checkpoints sets what checkpoints cost, and p99 with and without one.
func (f *figures) checkpoints(m *measurement) {
	a, b := &m.factsAfter, &m.factsBefore
	took := known(a.CheckpointNS).Sub(known(b.CheckpointNS))
	f.perTx("checkpoint_bytes_per_tx", known(a.CheckpointBytes).Sub(known(b.CheckpointBytes)), 1)
	f.set("checkpoint_ns", took, 1)
	for _, c := range []struct {
		column string
		in     bool
		none   string
	}{
		{"latency_ns_p99_in_checkpoint", true, "no transaction ended in a second in which a checkpoint is known to have run"},
		{"latency_ns_p99_outside_checkpoint", false, "no transaction ended in a second in which it is known that no checkpoint ran"},
	} {
		ns, n := m.result.P99LatencyNS(func(second int) bool {
			ran := f.run.Series[second].CheckpointNS
			return ran != nil && (*ran > 0) == c.in
		})
		p99 := procsample.Value{N: ns}
		switch {
		case !took.OK():
			p99 = took
		case n == 0:
			p99 = procsample.Value{Reason: c.none}
		}
		f.set(c.column, p99, 1)
	}
}

// series joins the driver's seconds with the sampler's points.
func (m *measurement) series() {
	points := pointsBySecond(m.points, len(m.result.Seconds))
	for i, s := range m.result.Seconds {
		second := record.Second{Second: i + 1, Transactions: s.Transactions, LatencyNSMax: s.MaxLatencyNS}
		if s.Transactions > 0 {
			second.LatencyNSP99 = &s.P99LatencyNS
		}
		if m.result.OpenLoop != nil {
			second.BacklogMax, second.BacklogEnd = &s.BacklogMax, &s.BacklogEnd
		}
		if p := points[i]; p != nil {
			second.RSSBytes, second.CPUNS, second.DeviceBytes = pointer(p.ResidentBytes), pointer(p.CPUNS), pointer(p.DeviceBytes)
			second.CheckpointBytes, second.CheckpointNS = pointer(p.Counters[checkpointBytes]), pointer(p.Counters[checkpointNS])
		}
		m.run.Series = append(m.run.Series, second)
	}
}

func pointer(v procsample.Value) *int64 {
	if !v.OK() {
		return nil
	}
	return &v.N
}

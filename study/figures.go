package study

import (
	"tpccbench/driver"
	"tpccbench/procsample"
	"tpccbench/record"
	"tpccbench/tpcc"
)

// figures writes the columns of a record: each either measured or missing with its reason.
type figures struct {
	run       *record.Run
	completed int64 // transactions in the window
}

func (f *figures) set(column string, v procsample.Value, per float64) {
	if !v.OK() {
		f.run.Miss(column, v.Reason)
		return
	}
	f.run.Set(column, float64(v.N)/per)
}

func (f *figures) share(column string, s procsample.Share) {
	if !s.OK() {
		f.run.Miss(column, s.Reason)
		return
	}
	f.run.Set(column, s.F)
}

// perTx sets v divided by the transactions of the window, in units of per.
func (f *figures) perTx(column string, v procsample.Value, per float64) {
	if f.completed == 0 {
		v = procsample.Value{Reason: "no transaction ended in the window"}
	}
	f.set(column, v, per*float64(max(f.completed, 1)))
}

func (f *figures) counts(r *driver.Result) {
	run, total := f.run, r.Totals()
	run.Set("seconds", r.Measured().Seconds())
	run.Set("tx_per_s", r.TransactionsPerSecond())
	run.Set("nopm", r.NewOrdersPerMinute())
	run.Set("attempts", float64(total.Attempts))
	run.Set("commits", float64(total.Commits))
	run.Set("rollbacks", float64(total.Rollbacks))
	run.Set("failures", float64(total.Failures))
	run.Set("skipped_deliveries", float64(r.SkippedDeliveries))
}

func (f *figures) latencies(t tpcc.Type, r *driver.TypeResult) {
	run := f.run
	run.Set("count_"+t.String(), float64(r.Completed()))
	f.points("_"+t.String(), r.Latency, "no such transaction ended in the window")
	if r.Latency == nil {
		return
	}
	if run.Histograms == nil {
		run.Histograms = map[string]string{}
	}
	run.Histograms[t.String()] = r.Latency.HistogramV2
}

// points sets the columns of a distribution of latencies; none says why there is none.
func (f *figures) points(suffix string, l *driver.Latency, none string) {
	points := [...]string{"p50", "p90", "p99", "p999", "max"}
	if l == nil {
		for _, p := range points {
			f.run.Miss("latency_ns_"+p+suffix, none)
		}
		return
	}
	for i, ns := range [...]int64{l.P50NS, l.P90NS, l.P99NS, l.P999NS, l.MaxNS} {
		f.run.Set("latency_ns_"+points[i]+suffix, float64(ns))
	}
}

// openLoop sets what only an open loop has.
func (f *figures) openLoop(r *driver.Result) {
	o := r.OpenLoop
	if o == nil {
		for _, column := range [...]string{"offered_tx_per_s", "kept_up", "backlog_max", "backlog_end", "start_late_ns_p99", "service_ns_p50", "service_ns_p99"} {
			f.run.Miss(column, "a closed loop offers nothing: each terminal waits for an answer before it begins the next transaction")
		}
		return
	}
	f.run.Set("offered_tx_per_s", r.OfferedPerSecond())
	keptUp := 0.0
	if r.KeptUp() {
		keptUp = 1
	}
	f.run.Set("kept_up", keptUp)
	f.run.Set("backlog_max", float64(o.BacklogMax))
	f.run.Set("backlog_end", float64(o.BacklogEnd))
	late := procsample.Value{N: o.StartLateP99NS}
	if o.Early == 0 {
		late = procsample.Value{Reason: "no terminal waited for a start: every transaction was due before one was free"}
	}
	f.set("start_late_ns_p99", late, 1)
	p50, p99 := procsample.Value{N: o.ServiceP50NS}, procsample.Value{N: o.ServiceP99NS}
	if f.completed == 0 {
		p50 = procsample.Value{Reason: "no transaction ended in the window"}
		p99 = p50
	}
	f.set("service_ns_p50", p50, 1)
	f.set("service_ns_p99", p99, 1)
}

// cost sets what the window took from the machine.
func (f *figures) cost(m *measurement) {
	d := m.after.Sub(m.before)
	f.perTx("cpu_us_per_tx", d.CPUNS, 1e3)
	if m.server == nil {
		f.set("driver_cpu_us_per_tx", m.driverNS, 1e3)
	} else {
		f.perTx("driver_cpu_us_per_tx", m.loadEnd.Sub(m.loadBefore), 1e3)
	}
	f.share("gc_cpu_share", d.GCShare())
	f.set("gc_cycles", d.GCCycles, 1)
	f.share("owner_core_share", d.OwnerShare())
	f.set("rss_bytes", d.ResidentBytes, 1)
	f.set("peak_rss_bytes", d.PeakResidentBytes, 1)
	f.perTx("write_bytes_per_tx", d.WriteBytes, 1)
	bytes, flushes := d.DeviceBytes, d.DeviceFlushes
	if m.spec.Kind == record.KindMemory {
		bytes, flushes = d.TempDeviceBytes, d.TempDeviceFlushes
	}
	f.perTx("device_bytes_per_tx", bytes, 1)
	f.perTx("device_flushes_per_tx", flushes, 1)
}

// engine sets what the engine says of itself and what its rows and files are.
func (f *figures) engine(m *measurement) {
	a, b := &m.factsAfter, &m.factsBefore
	count := func(after, before int64) procsample.Value { return known(after).Sub(known(before)) }
	f.perTx("temp_bytes_per_tx", count(a.TempBytes, b.TempBytes), 1)
	f.perTx("log_bytes_per_tx", count(a.LogBytes, b.LogBytes), 1)
	f.perTx("syncs_per_tx", count(a.Syncs, b.Syncs), 1)
	f.set("commits_durable", count(a.Commits, b.Commits), 1)
	f.set("checkpoints", count(a.Checkpoints, b.Checkpoints), 1)
	f.busy(a.BusyNS, b.BusyNS)
	if m.factory.NotAStore {
		f.run.Miss("store_bytes", "the engine stores nothing")
	} else {
		var sum int64
		for _, n := range a.FileBytes {
			sum += n
		}
		f.run.Set("store_bytes", float64(sum))
	}
	if m.checker == nil {
		f.run.Miss("state_bytes", "the rows were not read after the run")
	} else {
		f.run.Set("state_bytes", float64(m.checker.StateBytes()))
	}
}

// busy sets the parts of the time of the thread that applies writes.
func (f *figures) busy(after, before map[string]int64) {
	for _, part := range [...]string{"gather", "apply", "log", "sync", "publish", "answer"} {
		ns, kept := after[part]
		v := procsample.Value{N: ns - before[part]}
		switch {
		case after == nil:
			v = procsample.Value{Reason: "the engine does not keep how its thread that applies writes spends its time"}
		case !kept:
			v = procsample.Value{Reason: "the engine does not tell this part of its thread's time from the others"}
		}
		f.perTx("busy_"+part+"_us_per_tx", v, 1e3)
	}
}

// noise sets what tells a disturbed run from a quiet one.
func (f *figures) noise(m *measurement) {
	d := m.after.Sub(m.before)
	f.share("psi_cpu_share", d.PSIShare(d.PSICPUUS))
	f.share("steal_share", d.StealShare)
	var sum int64
	for _, ns := range m.calibrationNS {
		sum += ns
	}
	f.run.Set("calibration_ns", float64(sum)/float64(len(m.calibrationNS)))
}

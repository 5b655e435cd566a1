package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"tpccbench/driver"
	"tpccbench/emulate"
	"tpccbench/engines"
	"tpccbench/engines/null"
	"tpccbench/procsample"
	"tpccbench/record"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// driverCostTime is how long the null engine is run to measure the driver's own cost.
const driverCostTime = 300 * time.Millisecond

// flushSlack is the number of commits at the edges of the window whose flush may be counted outside of it.
const flushSlack = 2

// run carries out the Spec of the request on the loaded data in its directory.
func (c *child) run(ctx context.Context) (run *record.Run, interrupted bool, err error) {
	m, err := newMeasurement(c)
	if err != nil {
		return nil, false, err
	}
	m.calibrate()
	m.driverCost()
	if err := m.timed(ctx); err != nil {
		return nil, false, err
	}
	c.outOfSpace = m.result.DeviceFull
	if err := c.during("checking", m.check); err != nil {
		return nil, false, err
	}
	m.calibrate()
	m.fill()
	return m.run, m.result.Interrupted, nil
}

// measurement is one run on its way to a record.
type measurement struct {
	child   *child
	factory *engines.Factory
	spec    *record.Spec
	scale   tpcc.Scale
	weights tpcc.Weights
	sys     *procsample.System
	sampler *procsample.Sampler
	run     *record.Run

	calibrationNS []int64
	driverNS      procsample.Value // CPU per transaction of the driver alone

	server              *served          // of a run over HTTP; else nil
	loadBefore, loadEnd procsample.Value // CPU of this process then, which has the terminals alone

	result        *driver.Result
	before, after procsample.Sample
	factsBefore   engines.Facts
	factsAfter    engines.Facts
	factsErr      error
	points        []procsample.Point
	checker       *consistency.Checker
}

func newMeasurement(c *child) (*measurement, error) {
	spec := &c.req.Spec
	f, err := Engine(c.list, spec.Engine)
	if err != nil {
		return nil, err
	}
	sys, err := procsample.Linux()
	if err != nil {
		return nil, err
	}
	m := &measurement{child: c, factory: f, spec: spec, scale: tpcc.StandardScale(spec.W), sys: sys, run: record.New()}
	if len(spec.Mix) != tpcc.NumTypes {
		return nil, fmt.Errorf("the mix has %d weights, not %d", len(spec.Mix), tpcc.NumTypes)
	}
	copy(m.weights[:], spec.Mix)
	m.run.Spec = *spec
	m.run.Status = record.OK
	m.run.Build = ReadBuild()
	return m, nil
}

func (m *measurement) calibrate() { m.calibrationNS = append(m.calibrationNS, procsample.Calibrate()) }

// driverCost measures what drawing, calling and recording cost without an engine. With a server it is known exactly: it is
// what this process costs.
func (m *measurement) driverCost() {
	if !m.spec.InProcess() {
		return
	}
	m.driverNS = procsample.Value{Reason: "the null engine could not be run"}
	e, err := null.Factory.Open(m.child.req.Dir, engines.Options{})
	if err != nil {
		return
	}
	defer e.Close()
	var before, after procsample.Value
	r, err := driver.Run(context.Background(), e, driver.Config{
		Seed: m.spec.Seed, Scale: m.scale, Weights: m.weights, Terminals: m.spec.Terminals, Duration: driverCostTime,
		OnMeasureStart: func() { before = m.sys.Self().CPU() },
		OnMeasureEnd:   func() { after = m.sys.Self().CPU() },
	})
	if err != nil || r.Totals().Completed() == 0 {
		return
	}
	if m.driverNS = after.Sub(before); m.driverNS.OK() {
		m.driverNS.N /= r.Totals().Completed()
	}
}

// open opens the engine in this process, or starts a server that does so in its own. What is measured is that process.
func (m *measurement) open() (e engines.Engine, pid int, err error) {
	if m.spec.InProcess() {
		e, err = m.factory.Open(m.child.req.Dir, engines.Options{Settings: m.spec.Settings})
		return e, os.Getpid(), err
	}
	if m.server, err = m.child.startServer(); err != nil {
		return nil, 0, err
	}
	return m.server, m.server.pid, nil
}

// take samples the process that has the engine.
func (m *measurement) take() procsample.Sample {
	s := m.sampler.Take()
	if m.server != nil {
		s.GC = m.server.gc()
	}
	return s
}

// timed opens the engine, runs the terminals and closes it.
func (m *measurement) timed(ctx context.Context) error {
	e, pid, err := m.open()
	if err != nil {
		return err
	}
	facts, err := e.Facts()
	if err != nil {
		return errors.Join(err, e.Close())
	}
	temp, err := procsample.TempDir()
	if err != nil {
		temp = "" // the sampler says that none was given
	}
	m.sampler = m.sys.NewSampler(procsample.Config{PID: pid, OwnerTID: facts.OwnerTID, DataDir: m.child.req.Dir, TempDir: temp})
	if err := m.sampler.ResetPeak(); err != nil {
		m.warn("the peak of resident memory is not known: %v", err)
	}
	unix.Sync()

	var series *procsample.Series
	var last driver.Live
	cfg := driver.Config{
		Seed: m.spec.Seed, Scale: m.scale, Weights: m.weights, Terminals: m.spec.Terminals,
		WarmUp: seconds(m.spec.WarmUp), Duration: seconds(m.spec.Seconds), StopAfter: m.spec.Transactions,
		Rate: m.spec.RateTxPerS, Arrivals: driver.Arrivals(m.spec.Arrivals),
		OnMeasureStart: func() {
			m.run.Started = time.Now().UTC()
			m.factsBefore, m.factsErr = e.Facts()
			series = m.sampler.StartSeries(time.Second, func() []procsample.Value { return checkpointCounters(e) })
			m.before = m.take()
			m.loadBefore = m.sys.Self().CPU()
		},
		OnMeasureEnd: func() {
			m.loadEnd = m.sys.Self().CPU()
			m.after = m.take()
			m.points = series.Stop()
			var err error
			m.factsAfter, err = e.Facts()
			m.factsErr = errors.Join(m.factsErr, err)
			m.run.Ended = time.Now().UTC()
		},
		OnSecond: func(l driver.Live) {
			live := Live{Step: "running", Seconds: l.Elapsed.Seconds(), Transactions: l.Transactions, Backlog: l.Backlog}
			if d := l.Elapsed - last.Elapsed; d > 0 {
				live.PerSecond = float64(l.Transactions-last.Transactions) / d.Seconds()
			}
			last = l
			m.child.live(live)
		},
	}
	if m.spec.Transactions > 0 {
		cfg.WarmUp, cfg.Duration = 0, 0
	}
	m.result, err = driver.Run(ctx, e, cfg)
	if errors.Is(err, driver.ErrStuck) {
		return err // the engine cannot be closed; the process ends
	}
	// A close that fails after failed transactions adds nothing: what matters is what the reopened store holds.
	cerr := e.Close()
	if m.result == nil {
		return errors.Join(err, cerr)
	}
	if m.result.FailuresOfRun == 0 {
		if err := errors.Join(err, cerr); err != nil {
			return err
		}
	}
	return errors.Join(m.factsErr, m.serverDied(cerr))
}

// serverDied is the error of a server process that did not end as it should: beside failed transactions it says why.
func (m *measurement) serverDied(err error) error {
	if m.server == nil {
		return nil
	}
	return err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (m *measurement) warn(format string, args ...any) {
	m.run.Warnings = append(m.run.Warnings, fmt.Sprintf(format, args...))
}

// fail marks the run as one that broke a gate; the first one counts.
func (m *measurement) fail(gate, format string, args ...any) {
	if m.run.Status == record.OK {
		m.run.Status, m.run.Gate, m.run.Reason = record.Failed, gate, fmt.Sprintf(format, args...)
	}
}

// check applies the gates: no failures, and on the reopened store the consistency conditions and what was acknowledged.
func (m *measurement) check() error {
	r := m.result
	if n := r.FailuresOfRun; n > 0 {
		f := r.Failures[0]
		m.fail(record.GateFailures, "%d transactions failed; the first: %s of terminal %d: %s", n, f.Type, f.Terminal, f.Error)
	}
	if m.factory.NotAStore {
		m.warn("%s stores nothing: there is nothing to check", m.factory.Name)
		return nil
	}
	e, err := m.factory.Open(m.child.req.Dir, engines.Options{Settings: m.spec.Settings})
	if err != nil {
		m.child.saw(err)
		m.fail(record.GateConsistency, "the store cannot be opened again after the run: %v", err)
		return nil
	}
	m.checker = consistency.NewChecker(m.scale)
	var digest *consistency.Digest
	if m.spec.Transactions > 0 {
		digest = consistency.NewDigest()
	}
	err = e.Snapshot(func(row *tpcc.Row) error {
		if digest != nil {
			if err := digest.Add(row); err != nil {
				return err
			}
		}
		return m.checker.Add(row)
	})
	if err = errors.Join(err, e.Close()); err != nil {
		m.child.saw(err)
		m.fail(record.GateConsistency, "the store cannot be read after the run: %v", err)
		return nil
	}
	if v := m.checker.Check(); len(v) > 0 {
		m.run.Violations = append(m.run.Violations, violationTexts(v)...)
		m.fail(record.GateConsistency, "%d violations of the consistency conditions; the first: %s", consistency.Count(v), v[0])
	}
	// A transaction that failed may or may not have happened.
	if v := r.Ledger.Check(m.checker, int(min(r.FailuresOfRun, 1<<30))); len(v) > 0 {
		m.run.Violations = append(m.run.Violations, violationTexts(v)...)
		m.fail(record.GateAcked, "what was acknowledged is not all there; the first: %s", v[0])
	}
	m.run.RowCounts = rowCounts(m.checker)
	if digest != nil {
		m.run.Digests = tableDigests(digest)
		m.run.Digests["rows"] = digest.String()
		m.run.Digests["inputs"] = r.InputDigest
	}
	return nil
}

// fill turns what was measured into the record's figures.
func (m *measurement) fill() {
	run, r, facts := m.run, m.result, m.factsAfter
	run.EngineSettings, run.FileBytes = facts.Settings, facts.FileBytes
	if facts.BusyNS != nil {
		run.EngineBusyNS = map[string]int64{}
		for part, ns := range facts.BusyNS {
			run.EngineBusyNS[part] = ns - m.factsBefore.BusyNS[part]
		}
	}
	run.Machine, _ = json.Marshal(m.sys.Machine())
	card := emulate.Of(m.child.req.Dir)
	run.Storage, _ = json.Marshal(storage{m.sampler.Data, card})
	if card != nil {
		m.warn("device %s is %s", m.spec.Device, card)
	}
	if facts.Settings["fdatasync"] == "no" {
		m.warn("SQLite was compiled without HAVE_FDATASYNC: it calls fsync where the others call fdatasync")
	}
	if facts.Settings["optimized"] == "no" {
		m.warn("SQLite was compiled without optimisation: its figures say nothing")
	}
	if r.Interrupted {
		m.warn("interrupted after %.1f s of the measured window", r.Measured().Seconds())
	}
	if !r.KeptUp() {
		m.warn("the engine did not keep up: %.0f transactions/s were offered, %.0f were completed; %d were due and not begun at the end, so "+
			"the latencies depend on the length of the run", r.OfferedPerSecond(), r.TransactionsPerSecond(), r.OpenLoop.BacklogEnd)
	}

	if m.server != nil {
		m.settingsOfServer()
	}

	f := &figures{run: run, completed: r.Totals().Completed()}
	f.counts(r)
	f.points("", r.Latency, "no transaction ended in the window")
	f.openLoop(r)
	for _, t := range tpcc.Types {
		f.latencies(t, &r.Types[t])
	}
	f.cost(m)
	f.engine(m)
	f.noise(m)
	m.series()
	f.checkpoints(m)
	m.checkFlushes()
}

// settingsOfServer adds what the record's machine facts, which are this process's, do not say of the server.
func (m *measurement) settingsOfServer() {
	settings := maps.Clone(m.run.EngineSettings)
	if settings == nil {
		settings = map[string]string{}
	}
	settings["server_gomaxprocs"] = strconv.Itoa(m.server.start.GOMAXPROCS)
	m.run.EngineSettings = settings
}

// checkFlushes applies the durability gate: on a disk with a volatile cache, each durable commit takes a flush.
func (m *measurement) checkFlushes() {
	flushes := m.after.Sub(m.before).DeviceFlushes
	commits := m.factsAfter.Commits - m.factsBefore.Commits
	switch {
	case m.spec.Kind != record.KindDisk || m.factory.NotAStore:
		return
	case !flushes.OK():
		m.warn("durability was not checked: the device's flushes are not known: %s", flushes.Reason)
		return
	case m.factsAfter.Commits == engines.Unknown:
		m.warn("durability was not checked: the engine cannot tell its durable commits")
		return
	}
	for _, b := range m.sampler.Data.Blocks {
		if b.WriteCache == "write through" && flushes.N == 0 {
			m.warn("the device has no volatile write cache, so its flushes do not show durability")
			return
		}
	}
	if flushes.N+flushSlack < commits {
		m.fail(record.GateDurable, "the device completed %d flushes while the engine reported %d durable commits", flushes.N, commits)
	}
}

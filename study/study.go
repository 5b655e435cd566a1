package study

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tpccbench/engines"
	"tpccbench/matrix"
	"tpccbench/procsample"
	"tpccbench/record"
	"tpccbench/tpcc"
)

// ErrGate: a study was carried out, or ended early, with runs that broke a gate. They are among the raw records.
var ErrGate = errors.New("a gate was broken")

// Options say how a plan is carried out.
type Options struct {
	PlanPath string
	Out      string            // the study's folder
	Dirs     map[string]string // by device; DefaultDir for the others
	Only     string            // pattern of cells or IDs; empty: all
	Resume   bool              // go on with the study in Out
	Quick    bool
	Log      io.Writer // one line per run
	Progress io.Writer // a terminal for the progress line, or nil
}

// Study carries out one plan.
type Study struct {
	runner *Runner
	o      Options
	plan   *matrix.Plan
	sel    *matrix.Selection
	reg    record.Registration

	devices  map[string]Device
	detaches []func() error // of the devices
	works    map[string]*workDir
	locks    []*os.File    // of the machine and of Out, while the study goes on
	runs     []*record.Run // those that are done, of earlier parts of a resumed study too
	progress *Progress
}

// Run carries out the plan: gates, tuning, matrix. Each run's record is in Out/raw when it is done. ErrInterrupted and
// ErrGate (wrapped) tell those ends from others.
func (r *Runner) Run(ctx context.Context, o Options) (err error) {
	s := &Study{runner: r, o: o, devices: map[string]Device{}, works: map[string]*workDir{}}
	if err := s.readPlan(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.detach()) }()
	defer func() {
		for _, f := range s.locks {
			f.Close()
		}
	}()
	lock, err := lockMachine(machineLockPath(), o.Out)
	if err != nil {
		return err
	}
	s.locks = append(s.locks, lock)
	if err := s.checkDevices(); err != nil {
		return err
	}
	if err := s.openOut(); err != nil {
		return err
	}
	s.progress = s.newProgress()
	defer func() {
		s.progress.Clear()
		for _, w := range s.works {
			err = errors.Join(err, w.remove())
		}
	}()
	if err := s.probes(ctx); err != nil {
		return err
	}
	err = s.carryOut(ctx)
	if err != nil {
		s.note("ended: " + err.Error())
	}
	return err
}

func (s *Study) carryOut(ctx context.Context) error {
	if err := s.gates(ctx); err != nil {
		return err
	}
	chosen, err := s.tuning(ctx)
	if err != nil {
		return err
	}
	if err := s.matrix(ctx, chosen); err != nil {
		return err
	}
	return s.verdict()
}

func (s *Study) readPlan() error {
	plan, err := ReadPlan(s.o.PlanPath, s.runner.Engines)
	if err != nil {
		return err
	}
	if s.o.Quick {
		plan = plan.Quick()
	}
	s.plan = plan
	if s.sel, err = plan.Select(s.o.Only); err != nil {
		return err
	}
	for _, run := range s.selectedRuns() {
		spec := specOf(&run)
		if err := checkTransport(&spec); err != nil {
			return fmt.Errorf("run %s: %w", run.ID(), err)
		}
	}
	return nil
}

// specOf is what a run of the plan asks for.
func specOf(run *matrix.Run) record.Spec {
	return record.Spec{
		Engine: run.Engine, Settings: run.Settings, Device: run.Device, Kind: run.Kind, W: run.W, Terminals: run.Terminals,
		Transport: run.Transport, Seed: run.Seed, Mix: run.Mix, Seconds: run.Seconds, WarmUp: run.WarmUpSeconds,
		RateTxPerS: run.RateTxPerS, Arrivals: run.Arrivals, CPUs: run.CPUs, LoadCPUs: run.LoadCPUs,
	}
}

// ReadPlan reads a plan and checks its names against the engines and columns that there are, and the settings against
// their values. The error is of type matrix.Problems, with all that is wrong, unless the file cannot be read.
func ReadPlan(path string, list []*engines.Factory) (*matrix.Plan, error) {
	plan, err := matrix.Read(path)
	if err != nil {
		return nil, err
	}
	names := plan.CheckNames(func(name string) ([]string, error) {
		f, err := Engine(list, name)
		if err != nil {
			return nil, err
		}
		var settings []string
		for _, s := range f.Settings {
			settings = append(settings, s.Name)
		}
		return settings, nil
	})
	values := plan.CheckSettings(func(engine string, settings map[string]string) error {
		f, err := Engine(list, engine)
		if err != nil {
			return nil // reported with the names
		}
		known := map[string]string{}
		for _, s := range f.Settings {
			if v, given := settings[s.Name]; given {
				known[s.Name] = v // the others are reported with the names
			}
		}
		return f.Check(engines.Options{Settings: known})
	})
	cpus := plan.CheckCPUs(func(list string) error {
		_, err := record.ParseCPUs(list)
		return err
	})
	var all matrix.Problems
	for _, err := range []error{names, values, cpus, plan.CheckColumns(record.IsFigure)} {
		var problems matrix.Problems
		if errors.As(err, &problems) {
			all = append(all, problems...)
		}
	}
	if len(all) > 0 {
		slices.SortStableFunc(all, func(a, b matrix.Problem) int { return a.Line - b.Line })
		return nil, all
	}
	return plan, nil
}

// checkDevices makes sure before anything is made that each device is there, is of its kind and has room, and that
// there is memory enough.
func (s *Study) checkDevices() error {
	need := map[string]int64{}
	var memory int64
	add := func(device, kind string, deviceBytes, memoryBytes int64) {
		need[device] = max(need[device], deviceBytes)
		if kind == record.KindMemory {
			memoryBytes += deviceBytes
		}
		memory = max(memory, memoryBytes)
	}
	for _, g := range s.sel.Gates() {
		_, dev, mem := matrix.EstimateGate(g)
		add(g.Device, g.Kind, dev, mem)
	}
	for _, run := range s.selectedRuns() {
		_, dev, mem := matrix.Estimate(run)
		add(run.Device, run.Kind, dev, mem)
	}
	for name := range s.o.Dirs {
		if _, ok := s.plan.Device(name); !ok {
			return fmt.Errorf("--device %s=...: plan %s has no device of that name", name, s.plan.Name)
		}
	}
	for i := range s.plan.Devices {
		d := &s.plan.Devices[i]
		if _, used := need[d.Name]; !used {
			continue
		}
		dev := Device{Name: d.Name, Kind: d.Kind, Dir: s.o.Dirs[d.Name]}
		if dev.Dir == "" {
			dev.Dir = DefaultDir(d.Kind)
		}
		ready, detach, err := dev.attach(need[d.Name] + d.KeepFreeBytes)
		if err != nil {
			return err
		}
		s.devices[d.Name] = ready
		s.detaches = append(s.detaches, detach)
	}
	return checkMemory(memory)
}

// checkMemory refuses what would not fit in memory.
func checkMemory(need int64) error {
	sys, err := procsample.Linux()
	if err != nil {
		return err
	}
	if v := sys.MemoryAvailable(); v.OK() && v.N < need {
		return fmt.Errorf("%s of memory are available, and %s (%d bytes) may be needed", sizeText(v.N), sizeText(need), need)
	}
	return nil
}

// selectedRuns lists the runs that the selection needs, with the tunings that its settings depend on.
func (s *Study) selectedRuns() []matrix.Run {
	return append(s.tuningRuns(), s.sel.Filter(s.plan.MatrixRuns(nil))...)
}

func (s *Study) tuningRuns() []matrix.Run {
	var runs []matrix.Run
	needed := s.sel.Tunings()
	for _, run := range s.plan.TuningRuns() {
		if s.sel.Has(&run) || slices.Contains(needed, run.Tuning) {
			runs = append(runs, run)
		}
	}
	return runs
}

func (s *Study) rawDir() string { return filepath.Join(s.o.Out, "raw") }

// openOut makes the study's folder and registers the plan in it, or takes up a study that is there.
func (s *Study) openOut() error {
	if err := os.MkdirAll(s.o.Out, 0o755); err != nil {
		return fmt.Errorf("--out %s: %w", s.o.Out, err)
	}
	lock, err := lockDir(s.o.Out)
	if errors.Is(err, errInUse) {
		return fmt.Errorf("--out %s: another study is being carried out in it; wait for its end, or give another --out", s.o.Out)
	} else if err != nil {
		return fmt.Errorf("--out %s: %w", s.o.Out, err)
	}
	s.locks = append(s.locks, lock)
	old, err := record.ReadRegistration(s.o.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.register()
	case err != nil:
		return err
	case !s.o.Resume:
		return fmt.Errorf("%s holds the study %s already; go on with it by --resume, or give another --out", s.o.Out, old.Study)
	}
	return s.takeUp(old)
}

func (s *Study) done(id string) *record.Run {
	for _, r := range s.runs {
		if r.Name() == id {
			return r
		}
	}
	return nil
}

// newProgress is the progress of what is left to do.
func (s *Study) newProgress() *Progress {
	p := NewProgress(s.o.Progress, 0)
	for _, g := range s.sel.Gates() {
		p.steps++
		if s.recorded(g.ID()) {
			p.done++
			continue
		}
		t, _, _ := matrix.EstimateGate(g)
		p.total += t
	}
	for _, run := range s.selectedRuns() {
		p.steps++
		if s.done(run.ID()) != nil {
			p.done++
			continue
		}
		t, _, _ := matrix.Estimate(run)
		p.total += t
	}
	return p
}

// recorded reports whether a raw record of that name is there.
func (s *Study) recorded(name string) bool {
	_, err := os.Stat(filepath.Join(s.rawDir(), name+".json"))
	return err == nil
}

// work is the work directory on a device, made when it is first needed.
func (s *Study) work(device string) (*workDir, error) {
	if w := s.works[device]; w != nil {
		return w, nil
	}
	w, err := newWorkDir(s.devices[device].Dir)
	if err == nil {
		s.works[device] = w
	}
	return w, err
}

// gates runs the equality gates. A broken one ends the study: nothing after it would be a result.
func (s *Study) gates(ctx context.Context) error {
	for _, g := range s.sel.Gates() {
		path := filepath.Join(s.rawDir(), g.ID()+".json")
		gate, err := record.ReadGate(path)
		if errors.Is(err, os.ErrNotExist) {
			gate, err = s.gate(ctx, g)
		}
		if err != nil {
			return err
		}
		if gate.Status != record.OK {
			return fmt.Errorf("%w: %s: %s (%s)", ErrGate, g.ID(), gate.Reason, path)
		}
	}
	return nil
}

func (s *Study) gate(ctx context.Context, g matrix.Gate) (*record.EqualGate, error) {
	work, err := s.work(g.Device)
	if err != nil {
		return nil, err
	}
	o := EqualOptions{W: g.W, Seed: g.Seed, Transactions: g.Transactions, Engines: g.Engines}
	copy(o.Mix[:], g.Mix)
	t, _, _ := matrix.EstimateGate(g)
	s.progress.Begin(g.ID(), t)
	gate, err := s.runner.equal(ctx, work, o, s.progress.Live)
	if err != nil {
		return nil, s.stopped(full(err, g.Device), "gate "+g.Name)
	}
	s.progress.End()
	gate.Study, gate.Registration = s.plan.Name, s.reg
	if _, err := record.WriteGate(s.rawDir(), gate); err != nil {
		return nil, s.notKept(err, "gate "+g.Name)
	}
	if err := record.AppendSum(s.o.Out, g.ID()+".json", ""); err != nil {
		return nil, s.notKept(err, "gate "+g.Name)
	}
	s.logf("%-42s %s  %d transactions each through %d engines  %s", g.ID(), gate.Status, g.Transactions, len(gate.Engines), s.progress.Count())
	return gate, nil
}

// tuning carries out the tuning runs and chooses settings by the plan's rule, by the name of the tuning.
func (s *Study) tuning(ctx context.Context) (map[string]map[string]string, error) {
	for _, run := range s.tuningRuns() {
		if err := s.one(ctx, run); err != nil {
			return nil, err
		}
	}
	needed := s.sel.Tunings()
	results := map[string]float64{}
	for _, r := range s.runs {
		if v, ok := r.Figures["tx_per_s"]; ok && r.Phase == record.PhaseTuning && r.Status == record.OK {
			results[r.Name()] = v
		}
	}
	chosen := map[string]map[string]string{}
	var choices []matrix.Choice
	for i := range s.plan.Tunings {
		t := &s.plan.Tunings[i]
		choice, err := t.Choose(results)
		if err != nil {
			if slices.Contains(needed, t.Name) {
				return nil, fmt.Errorf("%w: %w", ErrGate, err)
			}
			chosen[t.Name] = nil // no selected run depends on it
			continue
		}
		chosen[t.Name] = choice.Settings
		choices = append(choices, choice)
		s.logf("chosen for %s", choice.String())
	}
	if len(choices) == 0 {
		return chosen, nil
	}
	b, err := json.MarshalIndent(choices, "", " ")
	if err != nil {
		return nil, err
	}
	return chosen, writeFile(filepath.Join(s.o.Out, "choices.json"), append(b, '\n'))
}

// matrix carries out the timed runs.
func (s *Study) matrix(ctx context.Context, chosen map[string]map[string]string) error {
	for _, run := range s.sel.Filter(s.plan.MatrixRuns(chosen)) {
		if err := s.one(ctx, run); err != nil {
			return err
		}
	}
	return nil
}

// one carries out a run unless its record is there.
func (s *Study) one(ctx context.Context, run matrix.Run) error {
	spec := specOf(&run)
	if old := s.done(run.ID()); old != nil {
		if record.SettingsText(old.Spec.Settings) != record.SettingsText(spec.Settings) {
			return fmt.Errorf("raw record %s was made with the settings %q, the tuning chooses %q: the records were changed",
				old.Name(), record.SettingsText(old.Spec.Settings), record.SettingsText(spec.Settings))
		}
		return nil
	}
	work, err := s.work(run.Device)
	if err != nil {
		return err
	}
	id := Identity{
		Study: s.plan.Name, Phase: run.Phase, Cell: run.Cell, Label: run.Label, Candidate: run.Candidate,
		Round: run.Round, Order: run.Order, Registration: s.reg,
	}
	rec, err := s.awake(ctx, work, run, spec, id)
	if err != nil {
		return s.stopped(full(err, run.Device), "run "+run.ID())
	}
	s.progress.End()
	if _, err := record.Write(s.rawDir(), rec); err != nil {
		return s.notKept(err, "run "+run.ID())
	}
	if err := record.AppendSum(s.o.Out, run.ID()+".json", ""); err != nil {
		return s.notKept(err, "run "+run.ID())
	}
	s.runs = append(s.runs, rec)
	if rec.Status == record.OK {
		s.logf("%-42s ok  %9.0f tx/s  New-Order p99 %7.2f ms  CPU %6.1f us/tx  %s", run.ID(), rec.Figures["tx_per_s"],
			rec.Figures["latency_ns_p99_"+tpcc.TxNewOrder.String()]/1e6, rec.Figures["cpu_us_per_tx"], s.progress.Count())
	} else {
		s.logf("%-42s FAILED  %s: %s  %s", run.ID(), rec.Gate, rec.Reason, s.progress.Count())
	}
	return s.writeCSV()
}

// maxSleeps is how often a run is begun on a machine that goes to sleep in the middle of it.
const maxSleeps = 3

// awake carries out a run, again if the machine slept during it, and returns its record. A run that was interrupted, or
// that failed because its device was full, has none: that says nothing of the engine, the runs after it would fail too,
// and it is made again when the study goes on.
func (s *Study) awake(ctx context.Context, work *workDir, run matrix.Run, spec record.Spec, id Identity) (*record.Run, error) {
	t, _, _ := matrix.Estimate(run)
	slept := ""
	for range maxSleeps {
		s.progress.Begin(fmt.Sprintf("%s %s, round %d", run.Phase, run.Cell, run.Round), t)
		out, err := s.runner.single(ctx, work, spec, id, s.progress.Live)
		switch {
		case err != nil:
			return nil, err
		case out.interrupted:
			return nil, ErrInterrupted
		case out.outOfSpace:
			return nil, &childError{text: out.run.Reason, outOfSpace: true}
		case out.slept == "":
			return out.run, nil
		}
		slept = out.slept
		s.logf("%-42s %s during it: its figures say nothing, it is made again", run.ID(), slept)
	}
	return nil, fmt.Errorf("in each of %d tries %s: keep it awake", maxSleeps, slept)
}

// full says of an error that the device was full, if it was.
func full(err error, device string) error {
	if outOfSpace(err) {
		return fmt.Errorf("device %s ran full: %w; make room", device, err)
	}
	return err
}

// stopped adds to an error what is needed to go on.
func (s *Study) stopped(err error, at string) error {
	return fmt.Errorf("stopped at %s: %w; what was measured is in %s; go on with --resume --out %s", at, err, s.o.Out, s.o.Out)
}

// notKept says that a record could not be written, and how to go on.
func (s *Study) notKept(err error, of string) error {
	return fmt.Errorf("stopped: cannot keep the record of %s: %w; go on with --resume --out %s", of, err, s.o.Out)
}

// writeCSV writes matrix.csv anew: one row per run, in the order in which they were carried out.
func (s *Study) writeCSV() error {
	var buf bytes.Buffer
	if err := record.WriteCSV(&buf, s.runs); err != nil {
		return err
	}
	return writeFile(filepath.Join(s.o.Out, "matrix.csv"), buf.Bytes())
}

// verdict says how the study ended.
func (s *Study) verdict() error {
	if err := s.writeCSV(); err != nil {
		return err
	}
	if err := writeSeries(filepath.Join(s.o.Out, "series"), s.runs); err != nil {
		return err
	}
	failed := 0
	for _, r := range s.runs {
		if r.Status != record.OK {
			failed++
		}
	}
	s.logf("%d runs in %s, %d of them failed", len(s.runs), s.o.Out, failed)
	if failed > 0 {
		return fmt.Errorf("%w in %d of %d runs; they are in no table", ErrGate, failed, len(s.runs))
	}
	return nil
}

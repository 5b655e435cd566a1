package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tpccbench/engines"
	"tpccbench/matrix"
	"tpccbench/record"
	"tpccbench/study"
	"tpccbench/tpcc"
)

// Bounds of what a cell takes.
const (
	maxTerminals = 4096
	minSeconds   = 0.01
	maxSeconds   = 1e6
)

type cellFlags struct {
	engine       string
	w, terminals int
	seconds      float64
	warmUp       float64
	transactions int64
	seed         uint64
	mix          string
	rate         string
	arrivals     string
	transport    string
	cpus         string
	loadCPUs     string
	bound        *study.LatencyBound // of --rate max-under
	set, dirs    []string
	from         string
	asJSON       bool
}

func newCellCommand() *cobra.Command {
	var fl cellFlags
	cmd := &cobra.Command{
		Use:   "cell",
		Short: "Run a single cell, or one again from its raw record",
		Long: `Runs one cell: one engine on one device at one W with so many terminals. The data is loaded, the run is made in a fresh
process, the store is opened again and checked, and the data is removed.

With --from, the cell of a raw record is run again: the same engine, settings, W, terminals, seed and length, and so the
same inputs. Where a device's directory is must be said again if it is not the default.

With --transactions N the run ends after N transactions instead of by time, and the digests of inputs and rows are
printed; with one terminal they are the same every time, and the same for every engine.

With --rate N the loop is an open one: N transactions/s over all terminals have an intended start, whatever the engine
does, and latency counts from there; what is due while every terminal is busy is the backlog. --arrivals says how they
follow each other. With --rate "max-under p99=10ms" the highest rate is searched that keeps the bound, for all types or
one (new_order.p99=10ms), with p50, p95, p99, p999 and the like, or max: a closed loop first, whose throughput is tried
as a rate, then a twentieth of it, then six halvings between, each a run of its own on fresh data; the answer is within
5 %. A rate at which the engine falls behind does not keep the bound.

With --transport http the engine is in a server process (see serve) and the terminals are in another, each on one connection
of HTTP/1.1 over loopback, with JSON. Latency is still what the terminals see, the wire included; CPU, memory and written
bytes are the server's alone, and driver_cpu_us_per_tx is what the terminals' process took. --cpus and --load-cpus give the
two processes processors of their own. It goes with --rate too.`,
		Example: `  tpccbench cell --engine pure --device ram -w 4 --terminals 64
  tpccbench cell --engine sqlite --device sd=/mnt/card --seconds 30 --set page_size=1024 --json
  tpccbench cell --engine pure --device ram --terminals 1 --transactions 20000
  tpccbench cell --engine pure --device ram --rate 5000 --arrivals fixed
  tpccbench cell --engine pure --device sd --terminals 64 --rate "max-under p99=10ms" --json
  tpccbench cell --engine pure --device ram --terminals 64 --transport http --cpus 0 --load-cpus 1
  tpccbench cell --from results/mine/raw/matrix-ram-w1-pure-64-r1.json`,
		Args: cellArgs(&fl),
		RunE: func(cmd *cobra.Command, _ []string) error { return runCell(cmd, &fl) },
	}
	f := cmd.Flags()
	f.StringVar(&fl.engine, "engine", "", "engine; tpccbench engines lists them")
	f.StringArrayVar(&fl.dirs, "device", nil, "ram, sd, NAME=DIR, or NAME=emulate:PROFILE: where the data lies; required without --from. ram is /dev/shm, sd the current directory")
	f.IntVarP(&fl.w, "warehouses", "w", 1, "warehouses")
	f.IntVar(&fl.terminals, "terminals", 16, "terminals, each with one transaction at a time")
	f.Float64Var(&fl.seconds, "seconds", 20, "length of the measured window")
	f.Float64Var(&fl.warmUp, "warm-up", 0, "seconds that are run before the window and not measured")
	f.Int64Var(&fl.transactions, "transactions", 0, "end after so many transactions instead of after --seconds")
	f.Uint64Var(&fl.seed, "seed", 106, "seed of population and inputs")
	f.StringVar(&fl.mix, "mix", tpcc.StandardMix().String(), "weights of New-Order, Payment, Order-Status, Delivery, Stock-Level")
	f.StringVar(&fl.rate, "rate", "0", "transactions/s over all terminals in an open loop, or \"max-under p99=10ms\" to search the highest; 0: a closed loop")
	f.StringVar(&fl.arrivals, "arrivals", record.ArrivalsPoisson, "with --rate: poisson, independent of each other, or fixed, evenly spaced")
	f.StringVar(&fl.transport, "transport", record.TransportInProcess, "between terminals and engine: in-process, a call, or http, HTTP/1.1 and JSON to a server process")
	f.StringVar(&fl.cpus, "cpus", "", "with http: processors of the server, such as 0 or 0-1,3 (default all)")
	f.StringVar(&fl.loadCPUs, "load-cpus", "", "with http: processors of the process with the terminals (default all)")
	f.StringArrayVar(&fl.set, "set", nil, "NAME=VALUE: a setting of the engine (repeatable)")
	f.StringVar(&fl.from, "from", "", "raw record of the run to make again; the other flags then override what it says")
	f.BoolVar(&fl.asJSON, "json", false, "print one JSON object: the columns of matrix.csv, and why some are missing, digests, settings, files")
	return cmd
}

// spec makes the run's Spec from the flags, and from the record of --from under them.
func (fl *cellFlags) spec(cmd *cobra.Command) (spec record.Spec, dir string, old *record.Run, err error) {
	given := func(name string) bool { return !cmd.Flags().Changed("from") || cmd.Flags().Changed(name) }
	if cmd.Flags().Changed("from") {
		if old, err = record.Read(fl.from); err != nil {
			if gate, gerr := record.ReadGate(fl.from); gerr == nil {
				err = fmt.Errorf("%s is the record of the gate %s, which compares engines and is no single run; make it again by: %s",
					fl.from, gate.Name, equalCommand(gate))
			}
			return spec, "", nil, err
		}
		spec = old.Spec
	}
	if spec.Transport == "" || spec.InProcess() {
		spec.Transport = record.TransportInProcess
	}
	if given("engine") {
		if spec.Engine = fl.engine; fl.engine == "" {
			return spec, "", nil, errors.New("--engine is missing; tpccbench engines lists them")
		}
	}
	if given("set") {
		if spec.Settings, err = parseSettings(fl.set); err != nil {
			return spec, "", nil, err
		}
	}
	if given("warehouses") {
		spec.W = fl.w
	}
	if given("terminals") {
		spec.Terminals = fl.terminals
	}
	if given("seed") {
		spec.Seed = fl.seed
	}
	if given("warm-up") {
		spec.WarmUp = fl.warmUp
	}
	if given("mix") {
		weights, err := tpcc.ParseWeights(fl.mix)
		if err != nil {
			return spec, "", nil, fmt.Errorf("--mix: %w", err)
		}
		spec.Mix = weights[:]
	}
	if cmd.Flags().Changed("transactions") && cmd.Flags().Changed("seconds") {
		return spec, "", nil, errors.New("--transactions and --seconds exclude each other")
	}
	if given("seconds") && !cmd.Flags().Changed("transactions") {
		spec.Seconds, spec.Transactions = fl.seconds, 0
	}
	if cmd.Flags().Changed("transactions") {
		spec.Seconds, spec.WarmUp, spec.Transactions = 0, 0, fl.transactions
		if fl.transactions < 1 {
			return spec, "", nil, fmt.Errorf("--transactions is %d; it must be at least 1", fl.transactions)
		}
	}
	if err := fl.load(cmd, &spec, given); err != nil {
		return spec, "", nil, err
	}
	if err := fl.transportInto(cmd, &spec, given); err != nil {
		return spec, "", nil, err
	}
	dir, err = fl.place(&spec)
	return spec, dir, old, err
}

// place reads --device into the spec and returns the directory.
func (fl *cellFlags) place(spec *record.Spec) (string, error) {
	switch {
	case len(fl.dirs) > 1:
		return "", errors.New("--device is given twice; a cell has one")
	case len(fl.dirs) == 1:
		name, dir, hasDir, err := splitDevice(fl.dirs[0])
		if err != nil {
			return "", err
		}
		if fl.from == "" || name != spec.Device {
			spec.Device, spec.Kind = name, study.DefaultKind(name)
		}
		if hasDir {
			return dir, nil
		}
	case spec.Device == "":
		return "", errors.New("--device is missing: ram, sd, or NAME=DIR")
	}
	return study.DefaultDir(spec.Kind), nil
}

// checkSpec says what is wrong with the spec before anything is loaded.
func checkSpec(spec *record.Spec) error {
	f, err := study.Engine(allEngines, spec.Engine)
	if err != nil {
		return err
	}
	if err := f.Check(engines.Options{Settings: spec.Settings}); err != nil {
		return err
	}
	if err := tpcc.StandardScale(spec.W).Validate(); err != nil {
		return fmt.Errorf("-w: %w", err)
	}
	switch {
	case spec.Terminals < 1 || spec.Terminals > maxTerminals:
		return fmt.Errorf("--terminals is %d; it must be 1..%d", spec.Terminals, maxTerminals)
	case spec.Transactions == 0 && !(spec.Seconds >= minSeconds && spec.Seconds <= maxSeconds):
		return fmt.Errorf("--seconds is %v; it must be %v..%v", spec.Seconds, minSeconds, int(maxSeconds))
	case !(spec.WarmUp >= 0 && spec.WarmUp <= maxSeconds):
		return fmt.Errorf("--warm-up is %v; it must be 0..%v", spec.WarmUp, int(maxSeconds))
	}
	return nil
}

func runCell(cmd *cobra.Command, fl *cellFlags) error {
	spec, dir, old, err := fl.spec(cmd)
	if err != nil {
		return err
	}
	if err := checkSpec(&spec); err != nil {
		if old != nil {
			err = fmt.Errorf("%s, with the flags that were given: %w", fl.from, err)
		}
		return err
	}
	r, err := newRunner()
	if err != nil {
		return err
	}
	seconds := spec.Seconds
	if spec.Transactions > 0 {
		seconds = math.Min(float64(spec.Transactions)/10_000+1, 600)
	}
	estimate, need, _ := matrix.Estimate(matrix.Run{Kind: spec.Kind, W: spec.W, Seconds: seconds, WarmUpSeconds: spec.WarmUp})
	lock, err := study.LockMachine(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if fl.bound != nil {
		return runRateSearch(cmd, fl, r, spec, dir)
	}
	id := cellID(&spec)
	p := study.NewProgress(terminal(), estimate)
	p.Begin(id.Cell, estimate)
	run, err := r.Cell(cmd.Context(), study.Device{Name: spec.Device, Kind: spec.Kind, Dir: dir}, spec, id, need, p.Live)
	p.Clear()
	if run == nil {
		return err
	}
	if werr := writeCell(cmd.OutOrStdout(), run, old, fl.asJSON); werr != nil {
		return werr
	}
	if err == nil && run.Status != record.OK {
		err = fmt.Errorf("%w: %s: %s", study.ErrGate, run.Gate, run.Reason)
	}
	return err
}

// equalCommand is the command that makes an equality gate again.
func equalCommand(g *record.EqualGate) string {
	var names []string
	for _, e := range g.Engines {
		names = append(names, e.Engine)
	}
	return fmt.Sprintf("tpccbench equal -w %d --seed %d --transactions %d --engines %s", g.W, g.Seed, g.Transactions, strings.Join(names, ","))
}

// cellSummary says in a sentence or two what the run found.
func cellSummary(run *record.Run) string {
	spec := &run.Spec
	text := fmt.Sprintf("%s on %s, W=%d, %s: ", spec.Engine, spec.Device, spec.W, count(spec.Terminals, "terminal"))
	if !spec.InProcess() {
		text = fmt.Sprintf("%s over %s on %s, W=%d, %s: ", spec.Engine, spec.Transport, spec.Device, spec.W, count(spec.Terminals, "terminal"))
	}
	// figure renders a figure of the record, or says that it was not measured.
	figure := func(column, format string, scale float64) string {
		v, ok := run.Figures[column]
		if !ok {
			return "not measured"
		}
		return fmt.Sprintf(format, v/scale)
	}
	text += figure("tx_per_s", "%.0f", 1) + " transactions/s; New-Order p99 " + figure("latency_ns_p99_new_order", "%.3g ms", 1e6) +
		"; CPU " + figure("cpu_us_per_tx", "%.3g us", 1) + " and " + figure("device_bytes_per_tx", "%.4g device bytes", 1) + " per transaction. "
	if spec.RateTxPerS > 0 {
		text += figure("offered_tx_per_s", "%.0f", 1) + " transactions/s were offered; the backlog was " + figure("backlog_max", "%.0f", 1) +
			" at most and " + figure("backlog_end", "%.0f", 1) + " at the end: the engine "
		if run.Figures["kept_up"] == 1 {
			text += "kept up. "
		} else {
			text += "fell behind. "
		}
	}
	if run.Status != record.OK {
		return text + fmt.Sprintf("It FAILED (%s): %s.", run.Gate, run.Reason)
	}
	return text + "Status ok: every gate was passed."
}

func writeCell(w io.Writer, run, old *record.Run, asJSON bool) error {
	if asJSON {
		return writeCellJSON(w, run)
	}
	fmt.Fprintf(w, "%s\n\n", cellSummary(run))
	for i := range record.Columns {
		c := &record.Columns[i]
		v := c.Value(run)
		if v == "" && record.IsFigure(c.Name) {
			v = "- (" + run.Missing[c.Name] + ")"
		}
		if old != nil && record.IsFigure(c.Name) {
			before := c.Value(old)
			if before == "" {
				before = "-"
			}
			v = fmt.Sprintf("%-24s was %s", v, before)
		}
		fmt.Fprintf(w, "%-32s %s\n", c.Name, v)
	}
	var names []string
	for name := range run.Digests {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(w, "%-32s %s\n", "sha256_"+name, run.Digests[name])
	}
	for _, text := range run.Warnings {
		fmt.Fprintf(w, "note: %s\n", text)
	}
	for _, text := range run.Violations {
		fmt.Fprintf(w, "violation: %s\n", text)
	}
	return nil
}

// writeCellJSON prints one object: the columns of matrix.csv in their order, null where not measured, then digests and
// why the missing ones are missing.
func writeCellJSON(w io.Writer, run *record.Run) error {
	type pair struct {
		name  string
		value any
	}
	var pairs []pair
	for i := range record.Columns {
		c := &record.Columns[i]
		var v any = c.Value(run)
		if record.IsFigure(c.Name) {
			v = nil
			if f, ok := run.Figures[c.Name]; ok {
				v = f
			}
		} else if s := v.(string); slices.Contains([]string{"round", "order", "w", "terminals", "seed", "exploratory"}, c.Name) {
			v = json.RawMessage(s)
		} else if c.Name == "rate_tx_per_s" {
			v = nil
			if s != "" {
				v = json.RawMessage(s)
			}
		}
		pairs = append(pairs, pair{c.Name, v})
	}
	pairs = append(pairs, pair{"reason", run.Reason}, pair{"not_measured", run.Missing}, pair{"digests", run.Digests},
		pair{"warnings", run.Warnings}, pair{"violations", run.Violations}, pair{"engine_settings", run.EngineSettings},
		pair{"file_bytes", run.FileBytes}, pair{"engine_busy_ns", run.EngineBusyNS})
	b := []byte("{")
	for i, p := range pairs {
		v, err := json.Marshal(p.value)
		if err != nil {
			return err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, "\n %q: %s", p.name, v)
	}
	_, err := w.Write(append(b, "\n}\n"...))
	return err
}

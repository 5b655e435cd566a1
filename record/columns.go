package record

import (
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"tpccbench/tpcc"
)

// Column documents one column of matrix.csv and one key of cell --json.
type Column struct {
	Name string
	Doc  string
	// label is nil for a figure, which is in Run.Figures or Run.Missing under Name.
	label func(*Run) string
	since int // first version of the record format with which matrix.csv has the column
}

// Columns lists the columns in their order.
var Columns = columns()

var figures = func() map[string]bool {
	m := map[string]bool{}
	for _, c := range Columns {
		if c.label == nil {
			m[c.Name] = true
		}
	}
	return m
}()

// IsFigure reports whether name is a column that holds a figure.
func IsFigure(name string) bool { return figures[name] }

// FigureColumns lists the columns that hold a figure.
func FigureColumns() []string {
	var names []string
	for _, c := range Columns {
		if c.label == nil {
			names = append(names, c.Name)
		}
	}
	return names
}

// SinceVersion is the first version of the record format with which matrix.csv has the column of that name, which must
// be one.
func SinceVersion(column string) int {
	return Columns[slices.IndexFunc(Columns, func(c Column) bool { return c.Name == column })].since
}

// latencyPoints are the points of a distribution that have a column.
var latencyPoints = []string{"p50", "p90", "p99", "p999", "max"}

func columns() []Column {
	label := func(name, doc string, f func(*Run) string) Column { return Column{name, doc, f, 1} }
	label2 := func(name, doc string, f func(*Run) string) Column { return Column{name, doc, f, 2} }
	label3 := func(name, doc string, f func(*Run) string) Column { return Column{name, doc, f, 3} }
	figure := func(name, doc string) Column { return Column{name, doc, nil, 1} }
	figure2 := func(name, doc string) Column { return Column{name, doc, nil, 2} }
	figure3 := func(name, doc string) Column { return Column{name, doc, nil, 3} }
	cols := []Column{
		label2("standing", "what the run counts as: registered, exploratory, quick, or exploratory quick; only registered ones are results",
			func(r *Run) string { return r.Registration.Standing() }),
		label("study", "name of the study", func(r *Run) string { return r.Study }),
		label("phase", "gate, tuning, matrix or cell", func(r *Run) string { return r.Phase }),
		label("cell", "name of the cell", func(r *Run) string { return r.Cell }),
		label("label", "row of the tables: the engine, or the name of a row with settings of its own", func(r *Run) string { return r.Row() }),
		label("candidate", "in the tuning: name of the settings that were tried", func(r *Run) string { return r.Candidate }),
		label("round", "round, from 1", func(r *Run) string { return strconv.Itoa(r.Round) }),
		label("order", "position in the phase, from 1", func(r *Run) string { return strconv.Itoa(r.Order) }),
		label("engine", "engine", func(r *Run) string { return r.Spec.Engine }),
		label("settings", "settings that were given to the engine, name=value, separated by blanks",
			func(r *Run) string { return SettingsText(r.Spec.Settings) }),
		label("device", "name of the device; (emulated: PROFILE) behind it if it was an emulated card", (*Run).DeviceText),
		label("w", "warehouses", func(r *Run) string { return strconv.Itoa(r.Spec.W) }),
		label("terminals", "terminals, each with one transaction at a time", func(r *Run) string { return strconv.Itoa(r.Spec.Terminals) }),
		label3("arrivals", "closed: each terminal begins a transaction when the one before is answered; fixed or poisson: an open loop, in which "+
			"transactions have intended starts, evenly spaced or independent of each other", func(r *Run) string { return r.Spec.ArrivalsText() }),
		label3("rate_tx_per_s", "of an open loop: transactions per second over all terminals that were asked for", func(r *Run) string { return r.Spec.RateText() }),
		label("transport", "between terminal and engine: in-process (inproc in records of versions 1 and 2) or http", func(r *Run) string { return r.Spec.Transport }),
		label3("cpus", "with http: processors of the server, as taskset lists them; empty: all", func(r *Run) string { return r.Spec.CPUs }),
		label3("load_cpus", "with http: processors of the process with the terminals; empty: all", func(r *Run) string { return r.Spec.LoadCPUs }),
		label("seed", "seed of population and inputs", func(r *Run) string { return strconv.FormatUint(r.Spec.Seed, 10) }),
		label("status", "ok, or the gate that the run broke", func(r *Run) string {
			if r.Status == OK {
				return OK
			}
			return r.Gate
		}),
		figure("seconds", "length of the measured window by the clock, s"),
		figure("tx_per_s", "commits and rollbacks by specification, all types, per second"),
		figure3("offered_tx_per_s", "of an open loop: transactions per second whose intended start is in the window; tx_per_s is what was achieved"),
		figure3("kept_up", "of an open loop: 1 if the engine kept up, 0 if it fell behind; it kept up if all but 1 % of what was due in the window, "+
			"or as many as there are terminals, had ended in it"),
		figure3("backlog_max", "of an open loop: the most transactions that were due while no terminal was free"),
		figure3("backlog_end", "the same at the end of the window"),
		figure3("start_late_ns_p99", "of an open loop: how late transactions were begun that a terminal was waiting for, p99, ns, up to 3.1 % too "+
			"long: the driver's own imprecision, which is in their latency"),
		figure3("service_ns_p50", "of an open loop: time from the call to the durable answer, all types, without the wait for a free terminal, p50, "+
			"ns, up to 3.1 % too long"),
		figure3("service_ns_p99", "the same, p99"),
		figure("nopm", "committed New-Orders per minute"),
		figure("attempts", "transactions begun that ended in the window"),
		figure("commits", "transactions committed"),
		figure("rollbacks", "New-Orders rolled back as the specification wants (clause 2.4.1.4)"),
		figure("failures", "transactions that failed"),
		figure("skipped_deliveries", "districts that a Delivery found without a new order"),
	}
	for _, p := range latencyPoints {
		cols = append(cols, figure3("latency_ns_"+p, "all types together: response time at the terminal, "+p+", ns; see those of the types"))
	}
	for _, t := range tpcc.Types {
		n := t.String()
		cols = append(cols, figure("count_"+n, n+" transactions that ended in the window without failure"))
		for _, p := range latencyPoints {
			cols = append(cols, figure("latency_ns_"+p+"_"+n, n+": response time at the terminal, request, or in an open loop intended start, to durable answer, "+p+", ns"))
		}
	}
	return append(cols,
		figure("cpu_us_per_tx", "CPU time of the process per transaction, us: in-process, driver included; with http that of the server alone"),
		figure("driver_cpu_us_per_tx", "CPU time of drawing, calling and recording alone, us: in-process, measured with the null engine; with http that of the process with the terminals in the window, its end of the wire included"),
		figure2("gc_cpu_share", "share of the process's CPU time that Go's garbage collector used, 0..1: collections that ended in the window, "+
			"pauses included, marking by idle processors not; Go's own estimate, which errs upwards"),
		figure2("gc_cycles", "garbage collections that ended in the window"),
		figure("owner_core_share", "share of one core that the thread which applies writes used, 0..1"),
		figure2("busy_gather_us_per_tx", "time of the thread which applies writes, per transaction of any type: waiting for a commit to fill up, us"),
		figure2("busy_apply_us_per_tx", "the same: applying transactions, us"),
		figure2("busy_log_us_per_tx", "the same: writing the log, us"),
		figure2("busy_sync_us_per_tx", "the same: in fsync or fdatasync, us"),
		figure2("busy_publish_us_per_tx", "the same: making the new state visible to reads, us"),
		figure2("busy_answer_us_per_tx", "the same: waking the terminals, us"),
		figure("rss_bytes", "resident memory at the end of the window: in-process, driver included; with http that of the server alone"),
		figure("peak_rss_bytes", "highest resident memory since the store was open"),
		figure("state_bytes", "live rows at the end, every column at its packed width, without indexes"),
		figure("store_bytes", "size of the store's files at the end of the window"),
		figure("log_bytes_per_tx", "bytes of log or WAL that the engine wrote per transaction, without block padding"),
		figure2("temp_bytes_per_tx", "bytes that the engine wrote to temporary files outside of its store per transaction, "+
			"whether or not they have reached a device"),
		figure("write_bytes_per_tx", "write_bytes of /proc/PID/io per transaction: pages dirtied"),
		figure("device_bytes_per_tx", "bytes written to the whole device per transaction, all writers; in a RAM cell the device behind the temporary directory"),
		figure("syncs_per_tx", "fsync and fdatasync calls of the engine per transaction"),
		figure("device_flushes_per_tx", "flush requests that the whole device completed per transaction"),
		figure("commits_durable", "durable commits: transactions, or groups where the engine groups"),
		figure("checkpoints", "checkpoints finished in the window"),
		figure2("checkpoint_bytes_per_tx", "bytes that checkpoints wrote per transaction: image or database pages"),
		figure2("checkpoint_ns", "time in which a checkpoint ran in the window, ns"),
		figure2("latency_ns_p99_in_checkpoint", "p99 over all types of the transactions that ended in a second of the window in which a "+
			"checkpoint ran, for any part of it, ns; up to 3.1 % too long"),
		figure2("latency_ns_p99_outside_checkpoint", "the same of the seconds in which none ran, ns"),
		figure("psi_cpu_share", "share of the window in which some task waited for a CPU (pressure stall information), 0..1"),
		figure("steal_share", "share of all CPU time in the window that the host took away, 0..1"),
		figure("calibration_ns", "mean time of a fixed loop run before and after, ns: compare between runs to see the machine drift"),
		label("plan_sha256", "SHA-256 of the plan", func(r *Run) string { return r.Registration.PlanSHA256 }),
		label("plan_commit", "commit that has the plan unchanged", func(r *Run) string { return r.Registration.PlanCommit }),
		label("tool_commit", "commit that the program was built from", func(r *Run) string { return r.Build.ToolCommit }),
		label("exploratory", "true unless plan and program were committed unchanged before the run",
			func(r *Run) string { return strconv.FormatBool(r.Registration.Exploratory) }),
	)
}

// SettingsText renders settings as name=value in name order, separated by blanks.
func SettingsText(m map[string]string) string {
	var parts []string
	for _, k := range sortedKeys(m) {
		parts = append(parts, k+"="+m[k])
	}
	return strings.Join(parts, " ")
}

// Number renders a figure: whole numbers without a point, others with up to six significant digits.
func Number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// Value is the column's value in the run as CSV text; empty: not measured.
func (c *Column) Value(r *Run) string {
	if c.label != nil {
		return c.label(r)
	}
	if v, ok := r.Figures[c.Name]; ok {
		return Number(v)
	}
	return ""
}

// WriteCSV writes one row per run under a header of column names.
func WriteCSV(w io.Writer, runs []*Run) error {
	cw := csv.NewWriter(w)
	row := make([]string, len(Columns))
	for i, c := range Columns {
		row[i] = c.Name
	}
	if err := cw.Write(row); err != nil {
		return err
	}
	for _, r := range runs {
		for i := range Columns {
			row[i] = Columns[i].Value(r)
		}
		if err := cw.Write(row); err != nil {
			return fmt.Errorf("run %s: %w", r.Name(), err)
		}
	}
	cw.Flush()
	return cw.Error()
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tpccbench/matrix"
	"tpccbench/record"
	"tpccbench/study"
)

// maxUnder begins a --rate that is to be searched.
const maxUnder = "max-under"

// cellArgs accepts no argument, but for the bound behind an unquoted --rate max-under, which the shell makes one.
func cellArgs(fl *cellFlags) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if strings.TrimSpace(fl.rate) == maxUnder && len(args) == 1 {
			fl.rate, args = maxUnder+":"+args[0], nil
		}
		return exactArgs()(cmd, args)
	}
}

// parseRate reads --rate: transactions/s, or max-under and a bound, between them a colon, blanks or an equals sign.
func parseRate(text string) (rate float64, bound *study.LatencyBound, err error) {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, maxUnder); ok {
		b, err := study.ParseLatencyBound(strings.TrimLeft(rest, ":= \t"))
		if err != nil {
			return 0, nil, fmt.Errorf("--rate %s: %w", text, err)
		}
		return 0, &b, nil
	}
	rate, err = strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, nil, fmt.Errorf("--rate %s: it must be a number of transactions/s, or \"%s p99=10ms\"", text, maxUnder)
	}
	if rate == 0 {
		return 0, nil, nil
	}
	if err := record.ValidateRate(rate, record.ArrivalsFixed); err != nil {
		return 0, nil, fmt.Errorf("--rate %s: %w", text, err)
	}
	return rate, nil, nil
}

// load reads --rate and --arrivals into the spec.
func (fl *cellFlags) load(cmd *cobra.Command, spec *record.Spec, given func(string) bool) (err error) {
	if given("rate") {
		if spec.RateTxPerS, fl.bound, err = parseRate(fl.rate); err != nil {
			return err
		}
	}
	if arrivals := []string{record.ArrivalsFixed, record.ArrivalsPoisson}; !slices.Contains(arrivals, fl.arrivals) {
		return fmt.Errorf("--arrivals is %q; it must be one of %s", fl.arrivals, strings.Join(arrivals, ", "))
	}
	switch {
	case spec.RateTxPerS > 0 || fl.bound != nil:
		if given("arrivals") || spec.Arrivals == "" {
			spec.Arrivals = fl.arrivals
		}
	case cmd.Flags().Changed("arrivals"):
		return fmt.Errorf("--arrivals %s needs --rate: in a closed loop nothing arrives", fl.arrivals)
	default:
		spec.Arrivals = ""
	}
	if fl.bound != nil && spec.Transactions > 0 {
		return fmt.Errorf("--rate %s searches by runs of --seconds; leave out --transactions", maxUnder)
	}
	return nil
}

// rateStep is one run of a search, and its keys in JSON.
type rateStep struct {
	RateTxPerS float64  `json:"rate_tx_per_s"` // 0: the closed loop
	TxPerS     float64  `json:"tx_per_s"`
	LatencyNS  int64    `json:"latency_ns"` // at the bound's percentile
	ServiceNS  *float64 `json:"service_ns_p99"`
	BacklogMax *float64 `json:"backlog_max"`
	BacklogEnd *float64 `json:"backlog_end"`
	LateNS     *float64 `json:"start_late_ns_p99"`
	KeptUp     bool     `json:"kept_up"`
	Keeps      bool     `json:"keeps_bound"` // and the engine kept up
}

// rateSearch looks for the highest rate of a cell that keeps a bound, and is its result in JSON.
type rateSearch struct {
	Cell       string            `json:"cell"`
	Engine     string            `json:"engine"`
	Settings   map[string]string `json:"settings"`
	Device     string            `json:"device"`
	W          int               `json:"w"`
	Terminals  int               `json:"terminals"`
	Seconds    float64           `json:"seconds"`
	Arrivals   string            `json:"arrivals"`
	Seed       uint64            `json:"seed"`
	Bound      string            `json:"bound"`
	Resolution float64           `json:"resolution"`
	Steps      []rateStep        `json:"steps"` // the closed loop first
	Highest    *float64          `json:"highest_rate_tx_per_s"`
	Missing    *float64          `json:"lowest_missing_rate_tx_per_s"`
	Answer     string            `json:"answer"`

	bound study.LatencyBound
}

func newRateSearch(cell string, spec *record.Spec, bound study.LatencyBound) *rateSearch {
	return &rateSearch{Cell: cell, Engine: spec.Engine, Settings: spec.Settings, Device: spec.Device, W: spec.W, Terminals: spec.Terminals,
		Seconds: spec.Seconds, Arrivals: spec.Arrivals, Seed: spec.Seed, Bound: bound.String(), Resolution: study.RateResolution, bound: bound}
}

// step takes a run into the steps.
func (s *rateSearch) step(run *record.Run) (*rateStep, error) {
	if run.Status != record.OK {
		return nil, fmt.Errorf("%w: %s: %s", study.ErrGate, run.Gate, run.Reason)
	}
	latency, err := s.bound.LatencyNS(run)
	if err != nil {
		return nil, err
	}
	figure := func(column string) *float64 {
		if v, ok := run.Figures[column]; ok {
			return &v
		}
		return nil
	}
	step := rateStep{RateTxPerS: run.Spec.RateTxPerS, TxPerS: run.Figures["tx_per_s"], LatencyNS: latency, ServiceNS: figure("service_ns_p99"),
		BacklogMax: figure("backlog_max"), BacklogEnd: figure("backlog_end"), LateNS: figure("start_late_ns_p99")}
	step.KeptUp = run.Spec.RateTxPerS == 0 || run.Figures["kept_up"] == 1
	step.Keeps = step.KeptUp && latency <= int64(s.bound.Limit)
	s.Steps = append(s.Steps, step)
	return &step, nil
}

// search makes the runs, by measure at a rate; 0 is the closed loop.
func (s *rateSearch) search(measure func(rate float64) (*record.Run, error)) error {
	try := func(rate float64) (*rateStep, error) {
		run, err := measure(rate)
		if err != nil {
			return nil, err
		}
		return s.step(run)
	}
	closed, err := try(0)
	if err != nil {
		return err
	}
	if !(closed.TxPerS >= record.MinRate) {
		return fmt.Errorf("the closed loop completed %.4g transactions/s; there is no rate to search from", closed.TxPerS)
	}
	answer, err := study.SearchRate(closed.TxPerS, func(rate float64) (bool, error) {
		step, err := try(max(rate, record.MinRate))
		return err == nil && step.Keeps, err
	})
	if err != nil {
		return err
	}
	if answer.Keeps > 0 {
		s.Highest = &answer.Keeps
	}
	if answer.Misses > 0 {
		s.Missing = &answer.Misses
	}
	s.Answer = rateAnswerWords(answer, s.bound)
	return nil
}

// rateAnswerWords is the answer as a sentence.
func rateAnswerWords(a study.RateAnswer, bound study.LatencyBound) string {
	switch {
	case a.Misses == 0:
		return fmt.Sprintf("Even %.6g transactions/s, the throughput of the closed loop, keep %s: with these terminals the bound limits nothing.",
			a.Keeps, bound.Words())
	case a.Keeps == 0:
		return fmt.Sprintf("No rate was found: even %.6g transactions/s, the lowest that is tried, miss %s.", a.Misses, bound.Words())
	}
	return fmt.Sprintf("%.6g transactions/s keep %s; %.6g do not.", a.Keeps, bound.Words(), a.Misses)
}

// runRateSearch carries out --rate max-under.
func runRateSearch(cmd *cobra.Command, fl *cellFlags, r *study.Runner, spec record.Spec, dir string) error {
	estimate, need, _ := matrix.Estimate(matrix.Run{Kind: spec.Kind, W: spec.W, Seconds: spec.Seconds, WarmUpSeconds: spec.WarmUp})
	const runs = 1 + study.RateSearchRuns
	p := study.NewProgress(terminal(), estimate*runs)
	p.Steps(runs)
	s := newRateSearch(cellID(&spec).Cell, &spec, *fl.bound)
	err := r.Cells(study.Device{Name: spec.Device, Kind: spec.Kind, Dir: dir}, need, func(cell study.CellRun) error {
		return s.search(func(rate float64) (*record.Run, error) {
			return searchedRun(cmd.Context(), cell, p, spec, rate, estimate)
		})
	})
	p.Clear()
	if len(s.Steps) == 0 {
		return err
	}
	if err != nil {
		s.Answer = "The search ended early: " + err.Error() + "."
	}
	write := s.write
	if fl.asJSON {
		write = s.writeJSON
	}
	if werr := write(cmd.OutOrStdout()); werr != nil {
		return werr
	}
	return err
}

// searchedRun is one run of a search at the rate.
func searchedRun(ctx context.Context, cell study.CellRun, p *study.Progress, spec record.Spec, rate, estimate float64) (*record.Run, error) {
	name := "closed loop"
	spec.RateTxPerS = rate
	if rate == 0 {
		spec.Arrivals = ""
	} else {
		name = fmt.Sprintf("rate %.6g", rate)
	}
	p.Begin(name, estimate)
	defer p.End()
	return cell(ctx, spec, cellID(&spec), p.Live)
}

// cellID says which cell a run by hand is.
func cellID(spec *record.Spec) study.Identity {
	id := study.Identity{
		Study: "cell", Phase: record.PhaseCell, Round: 1, Order: 1, Registration: record.Registration{Exploratory: true},
		Cell: fmt.Sprintf("%s-w%d-%s-%d", spec.Device, spec.W, spec.Engine, spec.Terminals),
	}
	if load := matrix.LoadName(spec.RateTxPerS, spec.Arrivals, spec.Transport); load != "" {
		id.Cell += "-" + load
	}
	return id
}

func (s *rateSearch) write(w io.Writer) error {
	fmt.Fprintf(w, "%s on %s, W=%d, %s: the highest rate with %s (%s arrivals), to within %.0f %%.\n", s.Engine, s.Device, s.W,
		count(s.Terminals, "terminal"), s.bound.Words(), s.Arrivals, 100*s.Resolution)
	fmt.Fprintf(w, "Latency counts from the intended start. Each line is a run of %g s on fresh data.\n\n", s.Seconds)
	point, _, _ := strings.Cut(s.Bound, "=")
	fmt.Fprintf(w, "%12s %12s %12s %15s %12s %12s %15s  %s\n", "offered tx/s", "tx/s", point+" ms", "service p99 ms", "backlog max", "backlog end", "start late us", "bound")
	for _, step := range s.Steps {
		offered, verdict := fmt.Sprintf("%.6g", step.RateTxPerS), "missed"
		switch {
		case step.RateTxPerS == 0:
			offered, verdict = "closed loop", "-"
		case step.Keeps:
			verdict = "kept"
		case !step.KeptUp:
			verdict = "missed: fell behind"
		}
		figure := func(v *float64, format string, unit float64) string {
			if v == nil {
				return "-"
			}
			return fmt.Sprintf(format, *v/unit)
		}
		fmt.Fprintf(w, "%12s %12.0f %12.3f %15s %12s %12s %15s  %s\n", offered, step.TxPerS, float64(step.LatencyNS)/1e6, figure(step.ServiceNS, "%.3f", 1e6),
			figure(step.BacklogMax, "%.0f", 1), figure(step.BacklogEnd, "%.0f", 1), figure(step.LateNS, "%.0f", 1e3), verdict)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", s.Answer)
	return err
}

func (s *rateSearch) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(s)
}

package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tpccbench/record"
)

// Identity says where a run belongs.
type Identity struct {
	Study, Phase, Cell string
	Label, Candidate   string // see record.Run
	Round, Order       int
	Registration       record.Registration
}

// outcome is what became of one run.
type outcome struct {
	run         *record.Run
	interrupted bool   // by the user: the record is of a part of the window
	outOfSpace  bool   // it failed because the device was full
	slept       string // how the machine slept during it; empty: it did not
}

// single carries out one run in the work directory on its device and returns its record: that of the measuring process,
// or, if that process ended without one, a record of the gate GateCrash. An error means that there is nothing to
// record: the data could not be made or copied, or the run was interrupted before it began.
func (r *Runner) single(ctx context.Context, work *workDir, spec record.Spec, id Identity, live func(Live)) (out outcome, err error) {
	if ctx.Err() != nil {
		return out, ErrInterrupted
	}
	if err := checkTransport(&spec); err != nil {
		return out, err
	}
	started := time.Now().UTC()
	dir, err := r.fresh(ctx, work, &spec, live)
	if err == nil && ctx.Err() != nil { // while it was copied, which takes long on a slow device
		return out, errors.Join(ErrInterrupted, os.RemoveAll(dir))
	}
	if err != nil {
		return out, err
	}
	then := r.now()
	ans, err := r.runChild(ctx, &request{Op: opRun, WorkDir: work.path, Dir: dir, Spec: spec}, live)
	out.slept = r.now().sleptSince(then)
	if rerr := os.RemoveAll(dir); rerr != nil {
		return out, errors.Join(err, rerr)
	}
	var crash *childError
	switch {
	case errors.As(err, &crash):
		if ctx.Err() != nil {
			return out, ErrInterrupted
		}
		out.run, out.outOfSpace = crashRecord(spec, started, crash), crash.outOfSpace
	case err != nil:
		return out, err
	case ans.Run == nil:
		return out, errors.New("the measuring process answered without a record")
	default:
		out.run, out.interrupted = ans.Run, ans.Interrupted
		out.outOfSpace = ans.OutOfSpace && ans.Run.Status == record.Failed
	}
	run := out.run
	run.Study, run.Phase, run.Cell, run.Round, run.Order = id.Study, id.Phase, id.Cell, id.Round, id.Order
	run.Label, run.Candidate = id.Label, id.Candidate
	run.Registration = id.Registration
	return out, nil
}

// crashRecord is the record of a run that gave none.
func crashRecord(spec record.Spec, started time.Time, crash *childError) *record.Run {
	run := record.New()
	run.Spec, run.Started, run.Ended, run.Build = spec, started, time.Now().UTC(), ReadBuild()
	run.Status, run.Gate, run.Reason = record.Failed, record.GateCrash, crash.text
	if crash.stderr != "" {
		run.Warnings = []string{"the process wrote to its standard error: " + crash.stderr}
	}
	for _, column := range record.FigureColumns() {
		run.Miss(column, "the run gave no result")
	}
	return run
}

// InWorkDir checks the device and calls f with a new empty directory on it, which is removed afterwards.
func InWorkDir(dev Device, need int64, f func(dir string) error) error {
	return inWork(dev, need, func(work *workDir) error {
		dir := filepath.Join(work.path, "data")
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		return f(dir)
	})
}

func inWork(dev Device, need int64, f func(*workDir) error) error {
	return OnDevice(dev, need, func(dev Device) error {
		work, err := newWorkDir(dev.Dir)
		if err != nil {
			return err
		}
		return errors.Join(f(work), work.remove())
	})
}

// CellRun carries out one run on a fresh copy of the loaded data. An interrupted run returns the record of what was
// measured, and ErrInterrupted; one whose device ran full its record and an error.
type CellRun func(ctx context.Context, spec record.Spec, id Identity, live func(Live)) (*record.Run, error)

// Cell carries out one run outside of a study, as CellRun says: it makes its data on the device and removes it again.
func (r *Runner) Cell(ctx context.Context, dev Device, spec record.Spec, id Identity, need int64, live func(Live)) (run *record.Run, err error) {
	err = r.Cells(dev, need, func(cell CellRun) (err error) {
		run, err = cell(ctx, spec, id, live)
		return err
	})
	return run, err
}

// Cells lets f carry out runs outside of a study, one after the other. What they have in common is loaded once on the
// device; it is removed when f returns.
func (r *Runner) Cells(dev Device, need int64, f func(cell CellRun) error) error {
	return inWork(dev, need, func(work *workDir) error {
		return f(func(ctx context.Context, spec record.Spec, id Identity, live func(Live)) (*record.Run, error) {
			out, err := r.single(ctx, work, spec, id, live)
			switch {
			case err != nil:
			case out.interrupted:
				err = ErrInterrupted
			case out.outOfSpace:
				err = full(&childError{text: out.run.Reason, outOfSpace: true}, dev.Name)
			}
			if out.run != nil && out.slept != "" {
				out.run.Warnings = append(out.run.Warnings, out.slept+" during the run: its figures say nothing")
			}
			return out.run, err
		})
	})
}

// EqualOn carries out an equality gate in a measuring process of its own, with its data on the device.
func (r *Runner) EqualOn(ctx context.Context, dev Device, o EqualOptions, need int64, live func(Live)) (g *record.EqualGate, err error) {
	err = inWork(dev, need, func(work *workDir) (err error) {
		g, err = r.equal(ctx, work, o, live)
		return err
	})
	return g, err
}

func (r *Runner) equal(ctx context.Context, work *workDir, o EqualOptions, live func(Live)) (*record.EqualGate, error) {
	dir := filepath.Join(work.path, "equal")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	ans, err := r.runChild(ctx, &request{Op: opEqual, WorkDir: work.path, Dir: dir, Equal: &o}, live)
	err = errors.Join(err, os.RemoveAll(dir))
	switch {
	case err != nil:
		return nil, err
	case ans.Interrupted:
		return nil, ErrInterrupted
	case ans.Gate == nil:
		return nil, fmt.Errorf("the measuring process answered without the result of the gate")
	}
	return ans.Gate, nil
}

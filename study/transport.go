package study

import (
	"context"
	"fmt"

	"tpccbench/record"
)

// TransportRun carries out a Spec whose transport is not in-process, on the loaded data in dir: the engine in a server
// process, the terminals in another. Figures of CPU and memory are those of the server alone. It reports progress by live,
// which may be nil, and returns when both processes have ended. An error means that there is nothing to record.
type TransportRun func(ctx context.Context, spec record.Spec, dir string, live func(Live)) (*TransportOutcome, error)

// TransportOutcome is what became of a TransportRun.
type TransportOutcome struct {
	Run         *record.Run // without its identity, which the caller adds
	Interrupted bool        // ctx was cancelled: the record is of a part of the window
	OutOfSpace  bool        // it failed because the device was full
}

// checkTransport refuses a transport that this program does not have, before anything is made for it.
func (r *Runner) checkTransport(spec *record.Spec) error {
	if spec.InProcess() || r.Transport != nil {
		return nil
	}
	return fmt.Errorf("transport %q is not built into this program yet; it has %q", spec.Transport, record.TransportInProcess)
}

// measure carries out the Spec on the loaded data in dir by the means of its transport.
func (r *Runner) measure(ctx context.Context, work *workDir, dir string, spec record.Spec, live func(Live)) (*answer, error) {
	if spec.InProcess() {
		return r.runChild(ctx, &request{Op: opRun, WorkDir: work.path, Dir: dir, Spec: spec}, live)
	}
	out, err := r.Transport(ctx, spec, dir, live)
	if err != nil {
		return nil, err
	}
	return &answer{Run: out.Run, Interrupted: out.Interrupted, OutOfSpace: out.OutOfSpace}, nil
}

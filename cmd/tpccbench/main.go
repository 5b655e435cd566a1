// Command tpccbench compares embedded stores by TPC-C under a plan that was fixed before the run. See the README.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"tpccbench/study"
)

// Exit codes, as --help lists them.
const (
	exitOK          = 0
	exitGate        = 1   // it ran, and a gate was broken; or a study is not whole
	exitUsage       = 2   // bad flags, plan, records, directories: nothing was measured
	exitUndecided   = 3   // a study is whole, and something cannot be decided
	exitInterrupted = 130 // SIGINT or SIGTERM; what was measured is kept
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)   // a second signal ends the program at once
	signal.Ignore(syscall.SIGPIPE) // a reader that goes away (| head) must not end a study, nor leave its data behind
	root := newRoot()
	root.SetArgs(args)
	out := &output{w: os.Stdout}
	root.SetOut(out)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.err
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(os.Stderr, "tpccbench: %v\n", err)
	switch {
	case errors.Is(err, study.ErrInterrupted):
		return exitInterrupted
	case errors.Is(err, study.ErrGate), errors.Is(err, errNotWhole):
		return exitGate
	case errors.Is(err, errUndecided):
		return exitUndecided
	}
	return exitUsage
}

// output is the standard output. It remembers the first write that failed, unless the reader has gone away.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if err != nil && o.err == nil && !errors.Is(err, syscall.EPIPE) {
		o.err = fmt.Errorf("cannot print all: %w", err)
	}
	if errors.Is(err, syscall.EPIPE) {
		return len(p), nil
	}
	return n, err
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "tpccbench",
		Short: "Compare embedded stores by TPC-C, under rules that were fixed before the run",
		Long: `tpccbench runs a seeded TPC-C mix against embedded stores and compares them under a registered plan: the cells, the
tuning, the gates and the decisions are fixed before the run, and a run that breaks a correctness gate is no result.

Three uses come first:
  tpccbench run matrix/preregistered.toml --out results/mine   the whole registered matrix, with one command
  tpccbench cell --from results/mine/raw/FILE.json             one cell again, from its raw record
  python3 tables.py results/mine                               the markdown tables, from the raw records alone

It is TPC-C without its wait times (numeric profile): results are transactions/s and New-Orders/min, never tpmC.

Exit codes: 0 all went well; 1 something ran and broke a gate, or a study is not whole; 2 nothing was measured (bad flags,
plan, records, directories); 3 verdict: something cannot be decided; 130 interrupted, and what was measured is kept.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w (%s --help lists the flags)", err, c.CommandPath())
	})
	root.AddCommand(newRunCommand(), newCellCommand(), newEqualCommand(), newCheckCommand(), newDumpCommand(), newAuditCommand(),
		newVerdictCommand(), newReportCommand(), newCompareCommand(), newEnginesCommand(), newPlanCommand(), newVersionCommand(), newChildCommand(), newAuditChildCommand(),
		newServeCommand(), newServeChildCommand(),
		newProbeCommand(), newEmulateCommand(), newEmulateKeeperCommand())
	return root
}

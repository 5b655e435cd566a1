package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tpccbench/study"
)

func newRunCommand() *cobra.Command {
	var o study.Options
	var devices []string
	cmd := &cobra.Command{
		Use:   "run PLAN.toml --out results/NAME",
		Short: "Carry out a registered plan: gates, tuning, matrix",
		Long: `Carries out a plan: first the equality gates, then the tuning runs and their choice by the plan's rule, then the
matrix. Each run is a fresh process on a fresh copy of the loaded data. Its raw record is in OUT/raw as soon as it is
done; OUT/matrix.csv has one row per run. A run that breaks a gate is kept as failed, with its reason.

Before the first measurement the plan is registered in OUT/registration.json: the SHA-256 of what it says and the commit
that has its file unchanged, the time, and what this program was built from. A plan that git does not have committed
unchanged, or a program built from a changed checkout, makes the study exploratory, and every record says so. OUT/raw.sha256
has the SHA-256 of each record as it was written.

One line is printed per run, with how many are done and how long the rest may take; a terminal also shows what is running.
Ctrl-C, SIGTERM, a kill, a full disk or a sleep of the machine end or spoil at most the run in progress; what was measured
stays, and --resume goes on with it. It refuses a plan or a record that was changed since. A machine carries out one
study at a time.`,
		Example: `  tpccbench run matrix/preregistered.toml --out results/mine
  tpccbench run matrix/preregistered.toml --out results/mine --device sd=/mnt/card --resume
  tpccbench run matrix/preregistered.toml --out /tmp/try --quick --only 'ram-w1-*'`,
		Args: exactArgs("the plan's file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.Dirs, err = study.ParseDevices(devices); err != nil {
				return err
			}
			if o.Out == "" {
				return errors.New("--out is missing: the folder for the study's records, for example --out results/mine")
			}
			o.PlanPath, o.Log, o.Progress = args[0], cmd.OutOrStdout(), terminal()
			r, err := newRunner()
			if err != nil {
				return err
			}
			return r.Run(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Out, "out", "", "folder for the records (required)")
	f.StringArrayVar(&devices, "device", nil, "NAME=DIR, or NAME=emulate:PROFILE: where the plan's device NAME is (default ram=/dev/shm, others the current directory)")
	f.StringVar(&o.Only, "only", "", "run only the cells or IDs that this pattern matches, and what they depend on: 'ram-w1-*'")
	f.BoolVar(&o.Resume, "resume", false, "go on with the study in --out")
	f.BoolVar(&o.Quick, "quick", false, "2 s runs, one round: shows that all works, measures nothing")
	return cmd
}

// terminal is where the progress line goes: standard error if it is a terminal, else nowhere.
func terminal() io.Writer {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		return os.Stderr
	}
	return nil
}

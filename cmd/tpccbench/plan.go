package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tpccbench/matrix"
	"tpccbench/study"
)

func newPlanCommand() *cobra.Command {
	var quick bool
	cmd := &cobra.Command{
		Use:   "plan PLAN.toml",
		Short: "Print in words what a plan would run, how long, how much space, and what it decides",
		Long: `Prints in words what a plan would run and in which order, how long it takes and how much space it needs at most, how
settings are chosen, and what is decided by which rule, or when it cannot be decided.

Plans lie in matrix/: preregistered.toml (the study), quick.toml (its cells for 2 s), scaling.toml (warehouses and
terminals), long.toml (ten minutes a run on the device), targets.toml (the record-log store against its targets), http.toml
(the engines over HTTP and in-process).`,
		Example: `  tpccbench plan matrix/preregistered.toml
  tpccbench plan check mine.toml
  tpccbench plan register mine.toml`,
		Args: exactArgs("the plan's file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := study.ReadPlan(args[0], allEngines)
			if err != nil {
				return err
			}
			if quick {
				p = p.Quick()
			}
			return p.Words(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "the plan as run --quick would carry it out")
	cmd.AddCommand(newPlanCheckCommand(), newPlanRegisterCommand())
	return cmd
}

func newPlanCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check PLAN.toml",
		Short: "Say all that is wrong with a plan, each with its line and key",
		Args:  exactArgs("the plan's file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := study.ReadPlan(args[0], allEngines)
			var problems matrix.Problems
			if errors.As(err, &problems) {
				for _, problem := range problems {
					fmt.Fprintln(cmd.OutOrStdout(), problem.Error())
				}
				return fmt.Errorf("%s: %s", args[0], count(len(problems), "problem"))
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: no problem; plan %s has %s, %s, %s, %s\n", args[0], p.Name, count(len(p.Gates()), "gate"),
				count(len(p.TuningRuns()), "tuning run"), count(len(p.MatrixRuns(nil)), "matrix run"), count(len(p.Decisions), "decision"))
			return nil
		},
	}
}

func newPlanRegisterCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "register PLAN.toml",
		Short: "Print the identity under which a plan is registered, to be run now, later or elsewhere",
		Long: `A plan is registered by committing it to git. Its identity is the SHA-256 of what it says (comments and layout do not
count) and the commit that has its file unchanged. This prints both, or says what is missing. Whoever carries the plan
out, later or on another machine, from a clone that has the commit, has the same identity in every record.`,
		Args: exactArgs("the plan's file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := study.ReadPlan(args[0], allEngines)
			if err != nil {
				return err
			}
			return writeIdentity(cmd.OutOrStdout(), p, args[0])
		},
	}
}

func writeIdentity(w io.Writer, p *matrix.Plan, path string) error {
	commit, err := study.PlanCommit(path)
	if err != nil {
		return fmt.Errorf("plan %s is not registered: %w; commit it, then it is. Its SHA-256 will be %s", p.Name, err, p.SHA256())
	}
	fmt.Fprintf(w, "plan    %s\nsha256  %s\ncommit  %s\n", p.Name, p.SHA256(), commit)
	build := study.ReadBuild()
	switch {
	case build.ToolCommit == "":
		fmt.Fprintln(w, "This program does not know the commit that it was built from: what it runs would be exploratory.")
	case build.ToolModified:
		fmt.Fprintln(w, "This program was built from a changed checkout: what it runs would be exploratory.")
	}
	return nil
}

// count is the number and the noun, which takes an s in the plural.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

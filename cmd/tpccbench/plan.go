package main

import (
	"github.com/spf13/cobra"

	"tpccbench/study"
)

func newPlanCommand() *cobra.Command {
	var quick bool
	cmd := &cobra.Command{
		Use:   "plan PLAN.toml",
		Short: "Print in words what a plan would run, how long, how much space, and what it decides",
		Args:  exactArgs("the plan's file"),
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
	return cmd
}

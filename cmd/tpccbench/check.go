package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"tpccbench/engines"
	"tpccbench/study"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

func newCheckCommand() *cobra.Command {
	var engine string
	var set []string
	var w int
	cmd := &cobra.Command{
		Use:   "check --engine E DIR",
		Short: "Check the consistency conditions on a stored database",
		Long: `Opens the database in DIR, which recovers what it holds, and checks clauses 3.3.2.1 to 3.3.2.12 over one snapshot of it.
Each violation is named. The number of warehouses is read from the database unless -w is given.`,
		Example: `  tpccbench check --engine pure /data/store`,
		Args:    exactArgs("the database's directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, settings, err := storeFlags(engine, set)
			if err != nil {
				return err
			}
			r := newReading(terminal(), args[0])
			violations, checker, recovered, err := study.CheckStore(f, args[0], engines.Options{Settings: settings, Progress: r.at}, w)
			r.clear()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			for _, text := range recovered {
				fmt.Fprintf(out, "recovery: %s\n", text)
			}
			for t, n := range checker.Rows() {
				fmt.Fprintf(out, "%-12s %10d rows\n", tpcc.Table(t), n)
			}
			for _, v := range violations {
				fmt.Fprintf(out, "violation: %s\n", v)
			}
			if n := consistency.Count(violations); n > 0 {
				return fmt.Errorf("%w: %d violations of the consistency conditions in %s", study.ErrGate, n, args[0])
			}
			fmt.Fprintf(out, "clauses 3.3.2.1 to 3.3.2.12 hold\n")
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&engine, "engine", "", "engine; tpccbench engines lists them")
	f.IntVarP(&w, "warehouses", "w", 0, "warehouses that the database must have (default: as many as it has)")
	f.StringArrayVar(&set, "set", nil, "NAME=VALUE: a setting of the engine (repeatable)")
	return cmd
}

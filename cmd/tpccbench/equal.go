package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tpccbench/matrix"
	"tpccbench/record"
	"tpccbench/study"
	"tpccbench/tpcc"
)

func newEqualCommand() *cobra.Command {
	var o study.EqualOptions
	var names, device string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "equal",
		Short: "Run the same transactions through several engines and compare every row",
		Long: `Loads each engine, runs the same transactions from one seed through it, one after the other, opens it again and compares
every row of the nine tables, dates included, and every output. The first difference is named.`,
		Example: `  tpccbench equal -w 4 --transactions 20000
  tpccbench equal --engines pure,sqlite --device sd=/mnt/card --seed 7`,
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Engines, o.Mix = strings.Split(names, ","), tpcc.StandardMix()
			return runEqual(cmd, o, device, asJSON)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&o.W, "warehouses", "w", 1, "warehouses")
	f.Int64Var(&o.Transactions, "transactions", 20_000, "transactions")
	f.Uint64Var(&o.Seed, "seed", 106, "seed of population and inputs")
	f.StringVar(&names, "engines", "pure,sqlite,sqlitegrouped", "engines, separated by commas")
	f.StringVar(&device, "device", "ram", "ram, sd, or NAME=DIR: where the data lies")
	f.BoolVar(&asJSON, "json", false, "print the record as JSON")
	return cmd
}

func runEqual(cmd *cobra.Command, o study.EqualOptions, device string, asJSON bool) error {
	seen := map[string]bool{}
	for _, name := range o.Engines {
		f, err := study.Engine(allEngines, name)
		switch {
		case err != nil:
			return err
		case f.NotAStore:
			return fmt.Errorf("--engines: %s keeps no rows to compare", name)
		case seen[name]:
			return fmt.Errorf("--engines: %s is named twice", name)
		}
		seen[name] = true
	}
	if err := tpcc.StandardScale(o.W).Validate(); err != nil {
		return fmt.Errorf("-w: %w", err)
	}
	if o.Transactions < 1 {
		return fmt.Errorf("--transactions is %d; it must be at least 1", o.Transactions)
	}
	dev, err := deviceFlag(device)
	if err != nil {
		return err
	}
	r, err := newRunner()
	if err != nil {
		return err
	}
	estimate, need, _ := matrix.EstimateGate(matrix.Gate{W: o.W, Transactions: o.Transactions, Engines: o.Engines, Kind: dev.Kind})
	p := study.NewProgress(terminal(), estimate)
	p.Begin("equal", estimate)
	g, err := r.EqualOn(cmd.Context(), dev, o, need, p.Live)
	p.Clear()
	if err != nil {
		return err
	}
	if err := writeEqual(cmd.OutOrStdout(), g, asJSON); err != nil {
		return err
	}
	if g.Status != record.OK {
		return fmt.Errorf("%w: %s", study.ErrGate, g.Reason)
	}
	return nil
}

func writeEqual(w io.Writer, g *record.EqualGate, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", " ")
		return enc.Encode(g)
	}
	fmt.Fprintf(w, "W=%d, seed %d, %d transactions, inputs %s\n\n", g.W, g.Seed, g.Transactions, g.InputDigest)
	fmt.Fprintf(w, "%-16s %9s %9s %9s %9s  %s\n", "engine", "commits", "rollbacks", "skipped", "failures", "SHA-256 of all rows")
	for _, e := range g.Engines {
		fmt.Fprintf(w, "%-16s %9d %9d %9d %9d  %s\n", e.Engine, e.Commits, e.Rollbacks, e.Skipped, e.Failures, e.RowsDigest)
	}
	fmt.Fprintln(w)
	for _, t := range tpcc.Tables {
		fmt.Fprintf(w, "%-12s", t)
		for _, e := range g.Engines {
			fmt.Fprintf(w, "  %8d rows %.12s", e.RowCounts[t.String()], e.TableDigests[t.String()])
		}
		fmt.Fprintln(w)
	}
	if g.Status == record.OK {
		fmt.Fprintln(w, "\nequal: every row of every table, dates included, and every output")
	}
	return nil
}

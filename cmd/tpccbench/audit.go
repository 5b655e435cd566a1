package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tpccbench/audit"
	"tpccbench/emulate"
	"tpccbench/engines"
	"tpccbench/matrix"
	"tpccbench/study"
	"tpccbench/tpcc"
)

// auditChildCommand is the hidden command of a process that is started to be killed.
const auditChildCommand = "audit-child"

func newAuditChildCommand() *cobra.Command {
	return &cobra.Command{
		Use:    auditChildCommand,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var list []engines.Factory
			for _, f := range allEngines {
				list = append(list, *f)
			}
			return audit.Child(list, os.Stdin, os.Stdout, audit.Acks())
		},
	}
}

func newAuditCommand() *cobra.Command {
	var engine, device string
	var set []string
	var w, terminals, kills int
	var seed uint64
	cmd := &cobra.Command{
		Use:   "audit --engine E",
		Short: "Kill an engine in mid-work, again and again, and look for what was acknowledged and is gone",
		Long: `A process runs the mix and tells every acknowledged write to this one over a pipe; it is killed (SIGKILL) at a random
moment, the store is opened again, and everything acknowledged so far must be there, row by row, and clauses 3.3.2.1 to
3.3.2.12 must hold. Then the next process goes on with the same store.

A kill leaves what the process had given to the kernel, synced or not: this finds what is acknowledged before it is
written, torn or half-recovered. What is acknowledged before it is synced shows in the flush count of a timed run.`,
		Example: `  tpccbench audit --engine sqlitegrouped --device ram --kills 20`,
		Args:    exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, settings, err := storeFlags(engine, set)
			if err != nil {
				return err
			}
			scale := tpcc.StandardScale(w)
			if err := scale.Validate(); err != nil {
				return fmt.Errorf("-w: %w", err)
			}
			if terminals < 1 || terminals > maxTerminals {
				return fmt.Errorf("--terminals is %d; it must be 1..%d", terminals, maxTerminals)
			}
			if kills < 1 {
				return fmt.Errorf("--kills is %d; it must be at least 1", kills)
			}
			dev, err := deviceFlag(device)
			if err != nil {
				return err
			}
			exe, err := os.Executable()
			if err != nil {
				return err
			}
			_, need, _ := matrix.Estimate(matrix.Run{Kind: dev.Kind, W: w, Seconds: float64(kills)})
			return study.InWorkDir(dev, need, func(dir string) error {
				if card := emulate.Of(dir); card != nil {
					fmt.Fprintf(cmd.OutOrStdout(), "device %s is %s\n", dev.Name, card)
				}
				n, r := 0, newReading(terminal(), "the store after a kill")
				res, err := audit.Run(cmd.Context(), audit.Config{
					Engine: *f, Settings: settings, Dir: dir, Scale: scale, Weights: tpcc.StandardMix(),
					Terminals: terminals, Seed: seed, Kills: kills,
					MinRun: 50 * time.Millisecond, MaxRun: time.Second, MinWrites: 10,
					Command: []string{exe, auditChildCommand},
					Opening: r.at,
					Killed: func(k audit.Kill) {
						r.clear()
						n++
						fmt.Fprintf(cmd.OutOrStdout(), "kill %3d after %6.0f ms, reopened in %6.0f ms, acknowledged: %d New-Orders, %d Payments, %d Deliveries; %d violations\n",
							n, float64(k.AfterNS)/1e6, float64(k.ReopenNS)/1e6, k.Acknowledged[tpcc.TxNewOrder], k.Acknowledged[tpcc.TxPayment],
							k.Acknowledged[tpcc.TxDelivery], len(k.Violations))
					},
				})
				if cmd.Context().Err() != nil {
					return study.ErrInterrupted
				}
				if err != nil {
					return fmt.Errorf("%w: %w", study.ErrGate, err)
				}
				if v := res.Violations(); len(v) > 0 {
					for _, x := range v {
						fmt.Fprintf(cmd.OutOrStdout(), "violation: %s\n", x)
					}
					return fmt.Errorf("%w: %d violations after kill %d", study.ErrGate, len(v), len(res.Kills))
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %d kills, %d acknowledged writes, none missing; all conditions hold\n", f.Name, len(res.Kills), res.Writes())
				return nil
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&engine, "engine", "", "engine; tpccbench engines lists them")
	fl.StringVar(&device, "device", "ram", "ram, sd, NAME=DIR, or NAME=emulate:PROFILE: where the data lies")
	fl.IntVarP(&w, "warehouses", "w", 1, "warehouses")
	fl.IntVar(&terminals, "terminals", 16, "terminals")
	fl.IntVar(&kills, "kills", 10, "how often to kill")
	fl.Uint64Var(&seed, "seed", 106, "seed of population, inputs and moments")
	fl.StringArrayVar(&set, "set", nil, "NAME=VALUE: a setting of the engine (repeatable)")
	return cmd
}

package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"tpccbench/engines/pure"
	"tpccbench/engines/pure/store"
	"tpccbench/study"
)

func newDumpCommand() *cobra.Command {
	var opt store.DumpOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "dump DIR",
		Short: "Show what the files of a store of engine pure hold, and all that is damaged in them",
		Long: `Reads the files of the record-log store in DIR, as engine pure left them, and changes none of them. It prints

  segment    each file of the log that counts: how many saves it has, their transactions and bytes, the first and the
             last save's number, and the last as the manifest has it ("-": the manifest does not know it yet)
  image      the state that the log builds on: the save whose state it is, rows and bytes of each table
  other file spares, which become segments; leftovers; files that are not the store's
  damage     each place where a file is damaged or missing, with file and offset. It goes on behind the first one

--saves lists every save, --records counts the change records of each table: per segment, and with --saves per save.

A save that was not written to its end is no damage: a crash leaves one, nobody was told that it is durable, and the
next opening cuts it off. A store with damage is refused when it is opened; restore it from a copy.

A store that is in use is refused: its files change while they are read. While dump reads, nobody can open the store.
Exit codes: 0 the store is sound; 1 it is damaged; 2 there is no store, or it is in use.`,
		Example: `  tpccbench dump /data/store
  tpccbench dump --saves --records /data/store | less
  tpccbench dump --json /data/store | jq '.damage[]'`,
		Args: exactArgs("the store's directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := newReading(terminal(), args[0])
			opt.Progress = r.at
			c, err := pure.Dump(args[0], opt)
			r.clear()
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(cmd.OutOrStdout())
				enc.SetIndent("", " ")
				err = enc.Encode(c)
			} else {
				err = c.Text(cmd.OutOrStdout())
			}
			if err == nil && len(c.Damage) > 0 {
				err = fmt.Errorf("%w: %s is damaged, in this many places: %d; restore it from a copy", study.ErrGate, args[0], len(c.Damage))
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&opt.Saves, "saves", false, "list every save")
	f.BoolVar(&opt.Records, "records", false, "count the change records of each table")
	f.BoolVar(&asJSON, "json", false, "print all of it as JSON")
	return cmd
}

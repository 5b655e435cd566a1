package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"tpccbench/emulate"
)

func newEmulateCommand() *cobra.Command {
	var clean bool
	cmd := &cobra.Command{
		Use:   "emulate",
		Short: "List the SD cards that --device NAME=emulate:PROFILE can emulate, or remove what was left of one",
		Long: `Where there is no SD card, --device sd=emulate:PROFILE of run, cell, equal, check, audit and probe makes one: a loop
device over a file, with an ext4 of its own, under limits of the kernel's block-I/O controller. It needs Linux and root.
The file is in ` + emulate.DefaultDir + `, or in DIR with emulate:PROFILE@DIR. Every record, table and log says that the device is an
emulation. What is emulated is rates: the distribution of single latencies is not that of a card.

The card is unmounted and removed at the end, however the program ends. Only if both it and its helper process are
killed (or the machine stops) something is left, which the next emulation removes, and so does --clean.`,
		Example: `  tpccbench emulate
  tpccbench cell --engine pure --device sd=emulate:slow --seconds 30
  tpccbench emulate --clean`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !clean {
				if len(args) > 0 {
					return fmt.Errorf("emulate: unexpected argument %q; see tpccbench emulate --help", args[0])
				}
				for _, p := range emulate.Profiles() {
					fmt.Fprintf(cmd.OutOrStdout(), "%s\n    %s\n    at most: %s\n", p.Name, p.About, p.Limits())
				}
				return nil
			}
			if len(args) == 0 {
				args = []string{emulate.DefaultDir}
			}
			removed, err := emulate.Clean(args...)
			for _, dir := range removed {
				fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", dir)
			}
			if err == nil && len(removed) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing was left")
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&clean, "clean", false, "remove the cards whose programs are gone: those on loop devices and in the directories that are given (default "+
		emulate.DefaultDir+")")
	return cmd
}

func newEmulateKeeperCommand() *cobra.Command {
	return &cobra.Command{
		Use:    emulate.KeeperCommand,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return emulate.Keep(os.Stdin, os.Stdout) },
	}
}

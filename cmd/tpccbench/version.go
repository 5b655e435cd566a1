package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"tpccbench/study"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print what this program was built from",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := study.ReadBuild()
			commit := b.ToolCommit
			switch {
			case commit == "":
				commit = "unknown (not built in a git checkout)"
			case b.ToolModified:
				commit += " with changes"
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "tpccbench\ncommit      %s\ngo          %s\nCGO_CFLAGS  %s\n", commit, b.GoVersion, b.CGOCFlags)
			return err
		},
	}
}

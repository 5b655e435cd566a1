package main

import (
	"os"

	"github.com/spf13/cobra"

	"tpccbench/study"
)

// newChildCommand makes the hidden command under which the program starts itself to measure.
func newChildCommand() *cobra.Command {
	return &cobra.Command{
		Use:    study.ChildCommand,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return study.Child(allEngines, os.Stdin, os.Stdout)
		},
	}
}

// newRunner makes the runner that starts this very program.
func newRunner() (*study.Runner, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &study.Runner{Exe: exe, Engines: allEngines}, nil
}

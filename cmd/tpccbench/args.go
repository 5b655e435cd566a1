package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// exactArgs accepts exactly one argument per description.
func exactArgs(what ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(what):
			return fmt.Errorf("%s: %s is missing; see tpccbench %s --help", cmd.Name(), what[len(args)], cmd.Name())
		case len(args) > len(what):
			return fmt.Errorf("%s: unexpected argument %q; see tpccbench %s --help", cmd.Name(), args[len(what)], cmd.Name())
		}
		return nil
	}
}

// parseSettings reads --set name=value arguments.
func parseSettings(args []string) (map[string]string, error) {
	m := map[string]string{}
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--set %s: it must be NAME=VALUE; tpccbench engines lists the settings", a)
		}
		if _, twice := m[name]; twice {
			return nil, fmt.Errorf("--set %s: %s is set twice", a, name)
		}
		m[name] = value
	}
	return m, nil
}

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tpccbench/emulate"
	"tpccbench/engines"
	"tpccbench/study"
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

// splitDevice reads NAME or NAME=DIR, where DIR may be an emulated card.
func splitDevice(arg string) (name, dir string, hasDir bool, err error) {
	if arg == "ram" || arg == "sd" {
		return arg, "", false, nil
	}
	m, err := study.ParseDevices([]string{arg})
	if _, place, _ := strings.Cut(arg, "="); err != nil && emulate.Is(place) {
		return "", "", false, err
	}
	if err != nil {
		return "", "", false, fmt.Errorf("--device %s: it must be ram, sd or NAME=DIR", arg)
	}
	for name, dir = range m {
	}
	return name, dir, true, nil
}

// deviceFlag reads NAME or NAME=DIR as a device.
func deviceFlag(arg string) (study.Device, error) {
	name, dir, hasDir, err := splitDevice(arg)
	dev := study.Device{Name: name, Kind: study.DefaultKind(name), Dir: dir}
	if !hasDir {
		dev.Dir = study.DefaultDir(dev.Kind)
	}
	return dev, err
}

// engineFlags reads --engine and --set.
func engineFlags(engine string, set []string) (*engines.Factory, map[string]string, error) {
	settings, err := parseSettings(set)
	if err != nil {
		return nil, nil, err
	}
	if engine == "" {
		return nil, nil, errors.New("--engine is missing; tpccbench engines lists them")
	}
	f, err := study.Engine(allEngines, engine)
	if err != nil {
		return nil, nil, err
	}
	return f, settings, f.Check(engines.Options{Settings: settings})
}

// storeFlags is engineFlags of a command that needs an engine which keeps its rows.
func storeFlags(engine string, set []string) (*engines.Factory, map[string]string, error) {
	f, settings, err := engineFlags(engine, set)
	if f != nil && f.NotAStore {
		return nil, nil, fmt.Errorf("--engine %s keeps no rows", engine)
	}
	return f, settings, err
}

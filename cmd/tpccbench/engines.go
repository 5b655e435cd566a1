package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tpccbench/engines"
	"tpccbench/engines/badger"
	"tpccbench/engines/bbolt"
	"tpccbench/engines/lmdb"
	"tpccbench/engines/null"
	"tpccbench/engines/pebble"
	"tpccbench/engines/pure"
	"tpccbench/engines/sqlite"
	"tpccbench/engines/sqlitegrouped"
)

// allEngines is the only list of engines. A new adapter is one line here.
var allEngines = []*engines.Factory{
	&pure.Factory,
	&sqlite.Factory,
	&sqlitegrouped.Factory,
	&bbolt.Factory,
	&lmdb.Factory,
	&pebble.Factory,
	&badger.Factory,
	&null.Factory,
}

func newEnginesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "engines",
		Short: "List the engines and their settings",
		Args:  exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return writeEnginesJSON(cmd.OutOrStdout())
			}
			for _, f := range allEngines {
				writeEngine(cmd.OutOrStdout(), f)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array")
	return cmd
}

func writeEngine(w io.Writer, f *engines.Factory) {
	fmt.Fprintf(w, "%s\n    %s\n", f.Name, f.Doc)
	if f.Missing != "" {
		fmt.Fprintf(w, "    %s\n", f.Missing)
	}
	for _, s := range f.Settings {
		value := s.Default
		if value == "" {
			value = `""`
		}
		takes := ""
		if s.Values != nil {
			takes = "; one of " + strings.Join(s.Values, ", ")
		}
		fmt.Fprintf(w, "    --set %s=%s\n        %s%s\n", s.Name, value, s.Doc, takes)
	}
	fmt.Fprintln(w)
}

func writeEnginesJSON(w io.Writer) error {
	type setting struct {
		Name     string   `json:"name"`
		Doc      string   `json:"doc"`
		Default  string   `json:"default"`
		Values   []string `json:"values,omitempty"`
		InFormat bool     `json:"in_format"`
	}
	type engine struct {
		Name     string    `json:"name"`
		Doc      string    `json:"doc"`
		Store    bool      `json:"store"`
		Missing  string    `json:"missing,omitempty"` // why it is not built in
		Settings []setting `json:"settings"`
	}
	list := []engine{}
	for _, f := range allEngines {
		e := engine{f.Name, f.Doc, !f.NotAStore, f.Missing, []setting{}}
		for _, s := range f.Settings {
			e.Settings = append(e.Settings, setting(s))
		}
		list = append(list, e)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(list)
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"tpccbench/probe"
	"tpccbench/report"
	"tpccbench/report/page"
	"tpccbench/study"
)

func newReportCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report results/NAME",
		Short: "One self-contained HTML page of a study, from the raw records",
		Long: `Writes results/NAME/report.html: verdicts, throughput with ranges, response times by percentile, device bytes and what
they are, shares of what the device can do, CPU time, memory, the course of each run second by second, tuning, gates,
noise, the machine, every setting, and the command that runs each cell again. The page needs no network and no script.

Everything is recomputed from the raw records and the stored plan, and checked as verdict does. The page's first line says
whether the study is registered, exploratory or quick; what was altered, missing, duplicated, foreign or unreadable stands
at its top. The same study makes the same page.

Exit codes: 0 the page is written; 1 it is written and says that the study is not whole; 2 there is no study to read, or
the page cannot be written.`,
		Example: `  tpccbench report results/preregistered
  tpccbench report results/preregistered --out /tmp/page.html`,
		Args: exactArgs("the study's folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := report.Load(args[0])
			if err != nil {
				return err
			}
			probes, err := readProbes(s)
			if err != nil {
				return err
			}
			var html bytes.Buffer
			if err := page.Write(&html, s, probes); err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(args[0], "report.html")
			}
			if err := replaceFile(out, html.Bytes()); err != nil {
				return fmt.Errorf("cannot write the page: %w", err)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s (%d kB)\n", s.Standing(), out, (html.Len()+500)/1000)
			if err := verdictError(s); errors.Is(err, errNotWhole) {
				return err
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file to write (default report.html in the study's folder)")
	return cmd
}

// readProbes reads what the study's devices could do, by name; a device that was not probed is not in it.
func readProbes(s *report.Study) (map[string]*probe.Result, error) {
	probes := map[string]*probe.Result{}
	if s.Plan == nil {
		return probes, nil
	}
	for _, d := range s.Plan.Devices {
		switch r, err := study.ReadProbe(s.Dir, d.Name); {
		case err == nil:
			probes[d.Name] = r
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return probes, nil
}

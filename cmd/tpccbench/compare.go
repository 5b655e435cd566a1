package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tpccbench/record"
	"tpccbench/report"
)

// compareFormats are the values of compare --format.
var compareFormats = []string{"table", "markdown", "csv", "benchfmt"}

func newCompareCommand() *cobra.Command {
	var format string
	var columns []string
	cmd := &cobra.Command{
		Use:   "compare results/A results/B",
		Short: "Compare two studies, cell by cell: two machines, two versions",
		Long: `Compares the cells of the matrix that two studies both have, column by column: medians with their 95 % order-statistic
interval (from six rounds on, else with the range), the ratio B / A, and p of the two-sided Mann-Whitney U test. Rounds of
different studies are not paired.

The outcome is "no difference" if p is above 0.05 or the ratio is within the A/A band of either study, and "too few rounds
to tell" if samples of that size could not differ significantly even if they did not overlap (fewer than four rounds
each). The interval of the ratio is the quotient of the medians' intervals; its confidence is the product of theirs and
stands in the CSV. Where machine, plan, program, seed or settings differ, a warning says so.

--format benchfmt writes Go's benchmark format, one line per run, which benchstat reads; for it one study is enough.`,
		Example: `  tpccbench compare results/pi results/vm
  tpccbench compare results/before results/after --columns tx_per_s,cpu_us_per_tx --format markdown
  tpccbench compare results/before --format benchfmt > before.txt
  tpccbench compare results/after --format benchfmt > after.txt
  benchstat before.txt after.txt
  tpccbench compare results/before results/after --format benchfmt | benchstat -col study -`,
		Args: func(cmd *cobra.Command, args []string) error {
			if format == "benchfmt" && len(args) == 1 {
				return nil
			}
			return exactArgs("the first study's folder", "the second study's folder")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(compareFormats, format) {
				return fmt.Errorf("--format %s: it must be one of %s", format, strings.Join(compareFormats, ", "))
			}
			for _, c := range columns {
				if !record.IsFigure(c) {
					return fmt.Errorf("--columns: there is no column %q that holds a figure; results/README.md lists them", c)
				}
			}
			var studies []*report.Study
			for _, dir := range args {
				s, err := report.Load(dir)
				if err != nil {
					return err
				}
				studies = append(studies, s)
			}
			if err := writeComparison(cmd.OutOrStdout(), format, columns, studies); err != nil {
				return err
			}
			for _, s := range studies {
				if !s.IsWhole() {
					return fmt.Errorf("%w: %s; tpccbench verdict names the problems", errNotWhole, s.Dir)
				}
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&format, "format", "table", strings.Join(compareFormats, ", "))
	f.StringSliceVar(&columns, "columns", report.DefaultColumns(), "columns that hold a figure, separated by commas")
	return cmd
}

func writeComparison(w io.Writer, format string, columns []string, studies []*report.Study) error {
	if format == "benchfmt" {
		return report.WriteBenchfmt(w, columns, studies...)
	}
	c := report.Compare(studies[0], studies[1], columns)
	switch format {
	case "markdown":
		return c.WriteMarkdown(w)
	case "csv":
		return c.WriteCSV(w)
	}
	return c.WriteText(w)
}

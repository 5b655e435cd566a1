package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tpccbench/report"
)

var (
	// errNotWhole: something in a study's folder was altered, or is missing, duplicated, foreign or unreadable.
	errNotWhole = errors.New("the study is not whole")
	// errUndecided: a decision of the plan cannot be decided.
	errUndecided = errors.New("not all is decided")
)

func newVerdictCommand() *cobra.Command {
	var asJSON, noFile bool
	cmd := &cobra.Command{
		Use:   "verdict results/NAME",
		Short: "The plan's decisions, by its rules, from the raw records",
		Long: `Checks that the study is whole, evaluates the decisions of its plan, prints the verdict and writes it to verdict.md in
its folder. Everything is recomputed from the raw records and the stored plan. The first line says whether the study is
registered, exploratory or quick.

What is checked: plan.toml against the registered SHA-256; each raw record against its hash in raw.sha256 (older studies
kept none, which is noted), against the registration, against the plan, and against itself; choices.json, matrix.csv and
series/ against what the raw records give. What is altered, missing, duplicated, foreign or unreadable is named with its
file and what differs, and a run of which the record is named is no result. If the plan was altered nothing is decided.

The rule. A decision holds if all of its conditions do. A condition compares a statistic with a threshold, for any or for
all of its cells; a ratio or quotient is taken within a round first.
  1. A decision cannot be decided, whatever the figures are, if a round of one of its cells has no result (its run broke
     a gate, is missing or was altered, its figure was not measured), or if there are fewer rounds than min_rounds.
  2. The A/A band of a column on a device is the largest factor, either way, by which the two runs of an A/A pair (the
     same engine and settings twice, twin_of in the plan) differed within a round, over all pairs there. Without a pair
     it is unknown and widens nothing.
  3. For a cell the comparison must have the same answer at its lowest round divided by that factor and at its highest
     round multiplied by it. Otherwise noise exceeds the effect, and for the cell nothing can be decided.
  4. Such a cell leaves the decision open only where the outcome hangs on it.
  5. A ratio whose median is within 1/factor to factor is called no difference.

Exit codes: 0 all is decided; 1 the study is not whole; 2 there is no study to read; 3 it is whole, and something cannot
be decided.`,
		Example: `  tpccbench verdict results/preregistered
  tpccbench verdict results/preregistered --json | jq '.decisions[] | {name, outcome}'`,
		Args: exactArgs("the study's folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := report.Load(args[0])
			if err != nil {
				return err
			}
			write := s.WriteText
			if asJSON {
				write = s.WriteJSON
			}
			if err := write(cmd.OutOrStdout()); err != nil {
				return err
			}
			if !noFile {
				var md bytes.Buffer
				if err := s.WriteMarkdown(&md); err != nil {
					return err
				}
				if err := replaceFile(filepath.Join(args[0], "verdict.md"), md.Bytes()); err != nil {
					return fmt.Errorf("cannot write the verdict (--no-file prints it only): %w", err)
				}
			}
			return verdictError(s)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	f.BoolVar(&noFile, "no-file", false, "print only, write no verdict.md")
	return cmd
}

// verdictError is the error that the exit code is made from.
func verdictError(s *report.Study) error {
	if !s.IsWhole() {
		n := 0
		for _, p := range s.Problems {
			if p.IsIntegrity() {
				n++
			}
		}
		return fmt.Errorf("%w: %s has problems, %d of them", errNotWhole, s.Dir, n)
	}
	if n := len(s.Undecided()); n > 0 {
		return fmt.Errorf("%w: %d of %d decisions of %s cannot be decided", errUndecided, n, len(s.Verdicts), s.Registration.Study)
	}
	return nil
}

// replaceFile replaces the file by the content, so that it is there whole or as it was.
func replaceFile(path string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	if err := errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

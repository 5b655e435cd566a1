package page

import (
	"fmt"
	"slices"
	"strings"

	"tpccbench/record"
	"tpccbench/report"
)

func gates(s *report.Study) section {
	sec := section{ID: "gates", Title: "Gates"}
	sec.Blocks = append(sec.Blocks, text("Before the timed runs, the same transactions from one seed must leave equal "+
		"rows in every engine. After every timed run the store is opened again: "+
		"the consistency conditions must hold, what was acknowledged must be there, no transaction may have failed, "+
		"and a device must have been flushed for each durable commit. A run that misses a gate is in no figure on "+
		"this page."))
	if len(s.Gates) > 0 {
		sec.Blocks = append(sec.Blocks, block{Table: equalTable(s.Gates)})
	}
	var failed []string
	for _, p := range s.Problems {
		if !p.IsIntegrity() {
			failed = append(failed, p.File+": "+p.Text)
		}
	}
	for _, r := range s.Runs {
		reason := s.Excluded(r.Name())
		if reason != "" && !slices.ContainsFunc(failed, func(t string) bool { return strings.Contains(t, r.Name()) }) {
			failed = append(failed, r.Name()+": "+reason)
		}
	}
	if len(failed) > 0 {
		sec.Blocks = append(sec.Blocks, block{Heading: "Not results"}, block{Alarm: failed})
	} else {
		sec.Blocks = append(sec.Blocks, text(fmt.Sprintf("All of %s passed every gate.", counted(len(s.Runs), "timed run"))))
	}
	t := &table{Caption: "Every run, in the order in which it began", Head: []string{"run", "status", "transactions", "transactions/s", "began, UTC"}}
	for _, r := range s.Runs {
		status := words("ok")
		if reason := s.Excluded(r.Name()); reason != "" {
			status = cell{Text: "not a result", Class: "bad", Mark: t.note(reason)}
			if r.Gate != "" {
				status.Text = "failed: " + r.Gate
			}
		} else if len(r.Warnings) > 0 {
			status = cell{Text: "ok, with a warning", Class: "text", Mark: t.note(strings.Join(r.Warnings, "; "))}
		}
		t.row(words(r.Name()), status, figureCell(t, r, "attempts"), figureCell(t, r, "tx_per_s"), words(r.Started.UTC().Format("01-02 15:04:05")))
	}
	sec.Blocks = append(sec.Blocks, block{Details: &details{"The status of " + counted(len(s.Runs), "run"), []block{{Table: t}}}})
	return sec
}

// figureCell is a figure of one run; why it is missing is a note.
func figureCell(t *table, r *record.Run, column string) cell {
	if v, ok := r.Figures[column]; ok {
		return number(whole(v))
	}
	return cell{Text: "n/a", Mark: t.note(column + ": " + r.Missing[column])}
}

func equalTable(gates []*record.EqualGate) *table {
	t := &table{Caption: "Equality gates: the same transactions through each engine", Head: []string{"gate", "outcome", "engines", "transactions", "rolled back", "digest of all rows"}}
	for _, g := range gates {
		outcome := words("equal")
		if g.Status != record.OK {
			outcome = cell{Text: "failed", Class: "bad", Mark: t.note(strings.TrimSpace(g.Reason + " " + g.Difference))}
		}
		var names, digests, rollbacks []string
		for _, e := range g.Engines {
			names = append(names, e.Engine)
			if d := short(e.RowsDigest); !slices.Contains(digests, d) {
				digests = append(digests, d)
			}
			if n := whole(float64(e.Rollbacks)); !slices.Contains(rollbacks, n) {
				rollbacks = append(rollbacks, n)
			}
		}
		t.row(words(g.Name), outcome, words(strings.Join(names, ", ")), number(whole(float64(g.Transactions))), number(strings.Join(rollbacks, " / ")),
			code(strings.Join(digests, " / ")))
	}
	return t
}

// short is the beginning of a digest.
func short(digest string) string { return digest[:min(len(digest), 12)] }

package page

import (
	"path/filepath"
	"strings"

	"tpccbench/report"
)

func redo(s *report.Study) section {
	sec := section{ID: "redo", Title: "Redo any cell"}
	folder := filepath.ToSlash(filepath.Join("results", filepath.Base(s.Dir)))
	sec.Blocks = append(sec.Blocks, text("Each command runs one cell again with the same engine, settings, W, "+
		"terminals, seed and length, and so the same inputs, and prints each figure beside what it was."),
		block{Code: "tpccbench cell --from " + folder + "/raw/FILE.json"})
	var matrix, tuning []*report.Cell
	for _, g := range groups(s) {
		matrix = append(matrix, g.Cells...)
	}
	for _, t := range s.Tunings {
		for i := range t.Candidates {
			tuning = append(tuning, t.Candidates[i].Cells...)
		}
	}
	for _, phase := range []struct {
		name  string
		cells []*report.Cell
	}{{"matrix", matrix}, {"tuning", tuning}} {
		t := &table{Caption: "Cells of the " + phase.name, Head: []string{"cell", "commands, one per round"}}
		for _, c := range phase.cells {
			var commands []string
			for _, r := range c.Rounds {
				if r.Run != nil {
					commands = append(commands, "tpccbench cell --from "+folder+"/raw/"+r.Run.Name()+".json")
				}
			}
			if len(commands) > 0 {
				t.row(words(c.Name), code(strings.Join(commands, "\n")))
			}
		}
		if len(t.Rows) > 0 {
			sec.Blocks = append(sec.Blocks, block{Details: &details{"The " + phase.name + ": " + counted(len(t.Rows), "cell"), []block{{Table: t}}}})
		}
	}
	return sec
}

package page

import (
	"cmp"
	"fmt"
	"slices"

	"tpccbench/matrix"
	"tpccbench/record"
	"tpccbench/report"
	"tpccbench/report/plot"
)

// group is the cells of the matrix at one device and W, in the order of the plan's rows and then of terminals.
type group struct {
	Device string
	Shown  string // the device's name, with the emulated card if it was one
	Kind   string
	W      int
	Cells  []*report.Cell
}

func (g *group) name() string { return fmt.Sprintf("%s, W=%d", g.Shown, g.W) }

// id is the group's name for identifiers.
func (g *group) id() string { return fmt.Sprintf("%s-w%d", g.Device, g.W) }

func (g *group) disk() bool { return g.Kind == matrix.KindDisk }

// label names a cell within its group.
func label(c *report.Cell) string { return fmt.Sprintf("%s, %d", c.Label, c.Terminals) }

// groups sorts the cells by device in the order of the plan, and by W.
func groups(s *report.Study) []group {
	var gs []group
	if s.Plan == nil {
		return nil
	}
	rank := rows(s)
	for _, d := range s.Plan.Devices {
		byW := map[int]*group{}
		var ws []int
		shown := d.Name
		if i := slices.IndexFunc(s.Runs, func(r *record.Run) bool { return r.Spec.Device == d.Name }); i >= 0 {
			shown = s.Runs[i].DeviceText()
		}
		for _, c := range s.Cells {
			if c.Device != d.Name {
				continue
			}
			if byW[c.W] == nil {
				byW[c.W] = &group{Device: d.Name, Shown: shown, Kind: d.Kind, W: c.W}
				ws = append(ws, c.W)
			}
			byW[c.W].Cells = append(byW[c.W].Cells, c)
		}
		slices.Sort(ws)
		for _, w := range ws {
			g := byW[w]
			slices.SortStableFunc(g.Cells, func(a, b *report.Cell) int {
				return cmp.Or(cmp.Compare(slices.Index(rank, a.Label), slices.Index(rank, b.Label)), cmp.Compare(a.Terminals, b.Terminals))
			})
			gs = append(gs, *g)
		}
	}
	return gs
}

// rows are the labels of the plan's rows, with their loads, each once.
func rows(s *report.Study) []string {
	var labels []string
	for _, c := range s.Cells {
		if !slices.Contains(labels, c.Label) {
			labels = append(labels, c.Label)
		}
	}
	return labels
}

// look is how the cells are drawn, the same in every picture: a row of the plan has an ink, its numbers of terminals
// have a dash each.
type look struct {
	labels    []string
	terminals map[string][]int // by label, ascending
}

func lookOf(s *report.Study) look {
	l := look{rows(s), map[string][]int{}}
	for _, c := range s.Cells {
		if !slices.Contains(l.terminals[c.Label], c.Terminals) {
			l.terminals[c.Label] = append(l.terminals[c.Label], c.Terminals)
		}
	}
	for _, t := range l.terminals {
		slices.Sort(t)
	}
	return l
}

// ink is that of a row of the plan; what is none is drawn as text is.
func (l look) ink(label string) plot.Ink {
	if i := slices.Index(l.labels, label); i >= 0 {
		return plot.Series(i)
	}
	return plot.InkText
}

func (l look) dash(c *report.Cell) int { return slices.Index(l.terminals[c.Label], c.Terminals) }

// keys is the legend of curves that are cells.
func (l look) keys() []key {
	var keys []key
	for _, name := range l.labels {
		for i, n := range l.terminals[name] {
			keys = append(keys, keyOf(l.ink(name), i, fmt.Sprintf("%s, %s", name, counted(n, "terminal"))))
		}
	}
	return keys
}

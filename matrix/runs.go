package matrix

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Run is one run of a plan. Its ID names its raw record.
type Run struct {
	Phase string // PhaseTuning or PhaseMatrix
	// Cell is DEVICE-wW-LABEL-TERMINALS, in the tuning followed by -CANDIDATE: ram-w1-pure-64; of a row with rates, or
	// with another transport than in-process, followed by -LOAD: ram-w1-pure-64-rate500-http.
	Cell          string
	Load          string // how transactions come, where that is not in-process in a closed loop: rate500, rate500-fixed, http
	Label         string // name of the row: its engine, or the label of a row with settings of its own
	Tuning        string // name of the tuning; empty in the matrix
	Candidate     string // of the tuning; empty in the matrix
	Round         int    // from 1
	Order         int    // position in the phase, from 1
	Engine        string
	Settings      map[string]string
	Device        string
	Kind          string // KindMemory or KindDisk
	W             int
	Terminals     int
	Seconds       float64
	WarmUpSeconds float64
	Seed          uint64
	Mix           []int // weights of new_order, payment, order_status, delivery, stock_level

	RateTxPerS     float64 // of an open loop, over all terminals; 0: a closed loop
	Arrivals       string  // of an open loop
	Transport      string
	CPUs, LoadCPUs string // see Row
}

// ID is PHASE-CELL-rROUND, of the characters a-z, 0-9 and hyphen.
func (r *Run) ID() string { return fmt.Sprintf("%s-%s-r%d", r.Phase, r.Cell, r.Round) }

// Gate is an equality gate: Transactions transactions from Seed, one after the other, through each of Engines on the
// device; every row of every table must be equal and at most MaxFailures transactions may fail.
type Gate struct {
	Name         string // equal-wW
	W            int
	Transactions int64
	Engines      []string
	Device       string
	Kind         string // of Device
	Seed         uint64
	Mix          []int
	MaxFailures  int64
}

// ID is gate-NAME.
func (g *Gate) ID() string { return "gate-" + g.Name }

// cell is one cell of a row.
type cell struct {
	name      string
	device    string
	w         int
	terminals int
	rate      int // 0: a closed loop
	load      string
}

// cellName names a cell; more, a load or a candidate, may be empty.
func cellName(device string, w int, label string, terminals int, more string) string {
	name := fmt.Sprintf("%s-w%d-%s-%d", device, w, label, terminals)
	if more != "" {
		name += "-" + more
	}
	return name
}

// LoadName says how transactions come, as a part of a cell's name: the rate of an open loop, its arrivals if they are
// not Poisson's, and the transport if it is not in-process. It is empty for a closed loop in-process.
func LoadName(rateTxPerS float64, arrivals, transport string) string {
	var parts []string
	if rateTxPerS > 0 {
		parts = append(parts, "rate"+strconv.FormatFloat(rateTxPerS, 'f', -1, 64))
		if arrivals != ArrivalsPoisson {
			parts = append(parts, arrivals)
		}
	}
	if transport != TransportInProcess {
		parts = append(parts, transport)
	}
	return strings.Join(parts, "-")
}

// cells is the product of the row's lists, device by device.
func (r *Row) cells() []cell {
	rates := r.Rates
	if len(rates) == 0 {
		rates = []int{0}
	}
	var cells []cell
	for _, d := range r.Devices {
		for _, w := range r.W {
			for _, n := range r.Terminals {
				for _, rate := range rates {
					load := LoadName(float64(rate), r.Arrivals, r.Transport)
					cells = append(cells, cell{cellName(d, w, r.Label, n, load), d, w, n, rate, load})
				}
			}
		}
	}
	return cells
}

// CellNames lists the cells of the matrix in the order of the plan.
func (p *Plan) CellNames() []string {
	var names []string
	for i := range p.Rows {
		for _, c := range p.Rows[i].cells() {
			names = append(names, c.name)
		}
	}
	return names
}

// Twins lists the A/A pairs in the order of the plan.
func (p *Plan) Twins() []Twin {
	var twins []Twin
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.TwinOf == "" {
			continue
		}
		for _, c := range r.cells() {
			twins = append(twins, Twin{Cell: cellName(c.device, c.w, r.TwinOf, c.terminals, c.load), Twin: c.name})
		}
	}
	return twins
}

// Gates lists the equality gates: one for every W among the rows, in ascending order.
func (p *Plan) Gates() []Gate {
	var ws []int
	for _, r := range p.Rows {
		ws = append(ws, r.W...)
	}
	slices.Sort(ws)
	device, _ := p.Device(p.Gate.EqualDevice)
	var gates []Gate
	for _, w := range slices.Compact(ws) {
		gates = append(gates, Gate{
			Name: fmt.Sprintf("equal-w%d", w), W: w, Transactions: p.Gate.EqualTransactions,
			Engines: slices.Clone(p.Gate.EqualEngines), Device: device.Name, Kind: device.Kind,
			Seed: p.Seed, Mix: slices.Clone(p.Mix), MaxFailures: p.Gate.MaxFailures,
		})
	}
	return gates
}

// TuningRuns lists the runs of all tunings in the order in which they are carried out: tuning by tuning as in the plan,
// round by round, and within a round in the plan's shuffled order (see shuffle).
func (p *Plan) TuningRuns() []Run {
	var runs []Run
	for i := range p.Tunings {
		t := &p.Tunings[i]
		for round := 1; round <= t.Rounds; round++ {
			first := len(runs)
			for j := range t.Candidates {
				c := &t.Candidates[j]
				t.visit(c, func(engine string, terminals int) {
					r := p.run(PhaseTuning, t.Device, round)
					r.Tuning, r.Cell = t.Name, t.cell(c, engine, terminals)
					r.Label, r.Engine, r.Candidate = engine, engine, c.Name
					r.W, r.Terminals = t.W, terminals
					r.Settings = overlay(c.Settings, nil)
					runs = append(runs, r)
				})
			}
			p.shuffle(runs[first:])
		}
	}
	return number(runs)
}

// visit calls f for each engine and number of terminals with which the candidate is run.
func (t *Tuning) visit(c *Candidate, f func(engine string, terminals int)) {
	for _, g := range t.Groups {
		if !slices.Contains(c.Engines, g.Engine) {
			continue
		}
		for _, n := range g.Terminals {
			f(g.Engine, n)
		}
	}
}

func (t *Tuning) cell(c *Candidate, engine string, terminals int) string {
	return cellName(t.Device, t.W, engine, terminals, c.Name)
}

// MatrixRuns lists the runs of the matrix in the order in which they are carried out: device by device as in the plan
// (all rounds of one before the next, so that one device's files are not there during the other's runs), round by
// round, every cell once per round, within a round in the plan's shuffled order (see shuffle).
//
// chosen holds, by the name of each tuning, the settings that it chose (Choice.Settings); a row's own settings go on
// top. With nil, the outline of the matrix is returned: all runs, without tuned settings. It panics if chosen lacks a
// tuning, which would measure something else than the plan says.
func (p *Plan) MatrixRuns(chosen map[string]map[string]string) []Run {
	var runs []Run
	for i := range p.Devices {
		d := &p.Devices[i]
		for round := 1; round <= d.Rounds; round++ {
			first := len(runs)
			for j := range p.Rows {
				row := &p.Rows[j]
				var base map[string]string
				if t, tuned := p.Tuning(d.Name, row.Engine); tuned {
					var ok bool
					if base, ok = chosen[t.Name]; chosen != nil && !ok {
						panic("matrix: no settings were chosen for " + t.words())
					}
				}
				for _, c := range row.cells() {
					if c.device != d.Name {
						continue
					}
					r := p.run(PhaseMatrix, d.Name, round)
					r.Cell, r.Label, r.Engine = c.name, row.Label, row.Engine
					r.W, r.Terminals = c.w, c.terminals
					r.Settings = overlay(base, row.Settings)
					r.Load, r.RateTxPerS, r.Arrivals = c.load, float64(c.rate), row.Arrivals
					r.Transport, r.CPUs, r.LoadCPUs = row.Transport, row.CPUs, row.LoadCPUs
					runs = append(runs, r)
				}
			}
			p.shuffle(runs[first:])
		}
	}
	return number(runs)
}

// run is a run with all that the plan and the device say.
func (p *Plan) run(phase, device string, round int) Run {
	d, _ := p.Device(device)
	return Run{Phase: phase, Round: round, Device: d.Name, Kind: d.Kind, Seconds: d.Seconds, WarmUpSeconds: d.WarmUpSeconds,
		Seed: p.Seed, Mix: slices.Clone(p.Mix), Transport: TransportInProcess}
}

// shuffle orders the runs of one round by the SHA-256 of the text "ORDER_SEED ID", in hex. So the order is a function
// of the plan's order_seed and the names alone: it is the same on every machine and with every version of Go, and
// leaving cells out (Select) or adding some leaves the order of the others as it was.
func (p *Plan) shuffle(runs []Run) {
	rank := make(map[string]string, len(runs))
	for i := range runs {
		id := runs[i].ID()
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", p.OrderSeed, id))
		rank[id] = hex.EncodeToString(sum[:])
	}
	slices.SortStableFunc(runs, func(a, b Run) int { return cmp.Compare(rank[a.ID()], rank[b.ID()]) })
}

func number(runs []Run) []Run {
	for i := range runs {
		runs[i].Order = i + 1
	}
	return runs
}

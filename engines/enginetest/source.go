package enginetest

import (
	"fmt"
	"iter"
	"math/rand/v2"

	"tpccbench/tpcc"
)

// workload is a population and the terminals that work on it.
type workload struct {
	name      string
	seed      uint64
	scale     tpcc.Scale
	weights   tpcc.Weights
	rollbacks int // percent of New-Orders that are given an unused item, beside those that the terminal drew
	remote    int // percent of New-Orders' lines that are given another warehouse, if there is one
	terminals int
}

func (w *workload) String() string {
	return fmt.Sprintf("%s: seed %d, W=%d, weights %s", w.name, w.seed, w.scale.Warehouses, w.weights)
}

// scale is a small population, in a short run a smaller one.
func (s *suite) scale(warehouses int) tpcc.Scale {
	if s.short {
		return smallScale(warehouses)
	}
	return tpcc.TestScale(warehouses)
}

func smallScale(warehouses int) tpcc.Scale {
	return tpcc.Scale{Warehouses: warehouses, Items: 100, Customers: 15, Orders: 15, Undelivered: 5}
}

// standard is the standard mix on the small population.
func (s *suite) standard(seed uint64, warehouses int) *workload {
	return &workload{name: "standard mix", seed: seed, scale: s.scale(warehouses), weights: tpcc.StandardMix(),
		rollbacks: 2, terminals: 2*warehouses + 1}
}

// emptying delivers more than is ordered, so that districts run out of new orders.
func (s *suite) emptying(seed uint64, warehouses int) *workload {
	return &workload{name: "emptying mix", seed: seed, scale: s.scale(warehouses), weights: tpcc.Weights{30, 10, 15, 30, 15},
		rollbacks: 5, remote: 20, terminals: 2*warehouses + 1}
}

// aborting rolls a third of its New-Orders back.
func (s *suite) aborting(seed uint64, warehouses int) *workload {
	return &workload{name: "aborting mix", seed: seed, scale: s.scale(warehouses), weights: tpcc.Weights{60, 15, 10, 5, 10},
		rollbacks: 33, remote: 30, terminals: 2*warehouses + 1}
}

// population is the population of the scale, but with last names that several customers share: there are too few
// customers for that in a small scale's own.
func (w *workload) population() iter.Seq[*tpcc.Row] {
	return func(yield func(*tpcc.Row) bool) {
		for r := range tpcc.Population(w.seed, w.scale) {
			row := *r
			if row.Table == tpcc.Customer {
				row.Col[tpcc.CLast] = int64(w.sharedName(int32(row.Col[tpcc.CLast])))
			}
			if !yield(&row) {
				return
			}
		}
	}
}

// sharedName puts the names into groups of 1, 2, 3, ... and gives each group one name. Neighbours are scattered first,
// as far as 7 and the number of names have no common factor.
func (w *workload) sharedName(name int32) int32 {
	n, group := (name*7+3)%int32(w.scale.LastNames()), int32(0)
	for size := int32(1); n >= size; size++ {
		n -= size
		group++
	}
	return group
}

// source draws the inputs of one terminal.
type source struct {
	w        *workload
	terminal *tpcc.Terminal
	rnd      *rand.Rand
}

func (w *workload) source(number int) *source {
	return &source{w, tpcc.NewTerminal(w.seed, number, w.scale, w.weights), rand.New(rand.NewPCG(w.seed, uint64(number)))}
}

func (s *source) next(in *tpcc.Input) {
	s.terminal.Next(in)
	switch in.Type {
	case tpcc.TxNewOrder:
		n := &in.NewOrder
		for i := range n.Lines[:n.Count] {
			if others := s.w.scale.Warehouses - 1; others > 0 && s.rnd.IntN(100) < s.w.remote {
				n.Lines[i].SupplyWID = (n.WID+int32(s.rnd.IntN(others)))%int32(s.w.scale.Warehouses) + 1
			}
		}
		if s.rnd.IntN(100) < s.w.rollbacks {
			n.Lines[n.Count-1].IID = s.w.scale.UnusedItem()
		}
	case tpcc.TxPayment:
		in.Payment.CLast = s.w.sharedName(in.Payment.CLast)
	case tpcc.TxOrderStatus:
		in.OrderStatus.CLast = s.w.sharedName(in.OrderStatus.CLast)
	}
}

// stream draws from the workload's terminals in turn.
type stream struct {
	sources []*source
	drawn   int
}

func (w *workload) stream() *stream {
	s := &stream{}
	for number := range w.terminals {
		s.sources = append(s.sources, w.source(number))
	}
	return s
}

func (s *stream) next(in *tpcc.Input) {
	s.sources[s.drawn%len(s.sources)].next(in)
	s.drawn++
}

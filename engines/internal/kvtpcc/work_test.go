package kvtpcc

import (
	"errors"
	"maps"
	"math/rand/v2"
	"testing"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
	"tpccbench/tpcc"
)

// loaded is a store with a small population.
func loaded(t testing.TB, warehouses int) *memory {
	t.Helper()
	m := newMemory()
	if err := Load(tpcc.Population(1, tpcc.TestScale(warehouses)), m.Set); err != nil {
		t.Fatal(err)
	}
	m.writes = 0
	return m
}

// Random transactions have the outputs and leave the rows that the reference has; those that fail or roll back write
// nothing.
func TestEqualsModel(t *testing.T) {
	const warehouses, transactions = 2, 3000
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	m, reference := loaded(t, warehouses), model.New()
	if err := reference.Load(tpcc.Population(1, tpcc.TestScale(warehouses))); err != nil {
		t.Fatal(err)
	}
	terminal := tpcc.NewTerminal(seed, 0, tpcc.TestScale(warehouses), tpcc.Weights{40, 40, 5, 10, 5})
	rnd := rand.New(rand.NewPCG(seed, 1))
	var work Work
	rolledBack := 0
	for i := range transactions {
		var in tpcc.Input
		terminal.Next(&in)
		disturb(rnd, &in)
		var got, want tpcc.Output
		wantErr := engines.Call(reference, &in, &want)
		before := m.writes
		err := work.Call(m, &in, &got)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("transaction %d, %+v: %v; the reference says %v", i, in, err, wantErr)
		}
		if err != nil || got.NewOrder.RolledBack || in.Type.ReadOnly() {
			if m.writes != before || work.Began() {
				t.Fatalf("transaction %d, %+v, wrote something: %v", i, in, err)
			}
		}
		if err != nil {
			continue
		}
		if got.NewOrder.RolledBack {
			rolledBack++
		}
		if got != want {
			t.Fatalf("transaction %d, %+v: %+v; the reference says %+v", i, in, got, want)
		}
	}
	if rolledBack == 0 {
		t.Error("no New-Order was rolled back")
	}
	var rows []tpcc.Row
	if err := reference.Snapshot(func(r *tpcc.Row) error { rows = append(rows, *r); return nil }); err != nil {
		t.Fatal(err)
	}
	i := 0
	err := Rows(m, func(r *tpcc.Row) error {
		if i >= len(rows) || rows[i] != *r {
			t.Fatalf("row %d is %v", i, r)
		}
		i++
		return nil
	})
	if err != nil || i != len(rows) {
		t.Errorf("%d rows, want %d: %v", i, len(rows), err)
	}
}

// disturb makes some inputs name the same stock twice, or a row that there is not.
func disturb(rnd *rand.Rand, in *tpcc.Input) {
	switch in.Type {
	case tpcc.TxNewOrder:
		o := &in.NewOrder
		switch rnd.IntN(10) {
		case 0, 1:
			o.Lines[1].IID, o.Lines[1].SupplyWID = o.Lines[0].IID, o.Lines[0].SupplyWID
		case 2:
			o.Lines[3].SupplyWID = 77
		case 3:
			o.Lines[4].IID = -5
		case 4:
			o.CID = 1 << 20
		}
	case tpcc.TxPayment:
		if rnd.IntN(10) == 0 {
			in.Payment.CDID = 11
		}
	case tpcc.TxOrderStatus:
		if rnd.IntN(5) == 0 {
			in.OrderStatus.ByName, in.OrderStatus.CLast = true, 999
		}
	case tpcc.TxStockLevel:
		if rnd.IntN(5) == 0 {
			in.StockLevel.WID = 0
		}
	}
}

// A store that fails in the middle of the writes is told of by Began.
func TestBegan(t *testing.T) {
	m := loaded(t, 1)
	var work Work
	in := tpcc.PaymentInput{WID: 1, DID: 1, CWID: 1, CDID: 1, CID: 1, Amount: 1}
	m.failAfter = 3
	if err := work.Payment(m, &in, new(tpcc.PaymentOutput)); !errors.Is(err, errFull) || !work.Began() {
		t.Errorf("%v, began %v", err, work.Began())
	}
}

// A damaged value is engines.ErrCorrupt in whatever transaction meets it, never a panic, and nothing is written.
func TestDamage(t *testing.T) {
	rnd := newRand(t)
	sound := loaded(t, 1)
	terminal := tpcc.NewTerminal(rnd.Uint64(), 0, tpcc.TestScale(1), tpcc.Weights{20, 20, 20, 20, 20})
	var work Work
	met := 0
	for range 200 {
		m := &memory{keys: append([]string(nil), sound.keys...), values: maps.Clone(sound.values)}
		for _, key := range m.keys {
			if v := m.values[key]; rnd.IntN(4) == 0 && len(v) > 0 {
				m.values[key] = v[:rnd.IntN(len(v))]
			}
		}
		var in tpcc.Input
		terminal.Next(&in)
		var out tpcc.Output
		work.Shared = nil
		if err := work.Call(m, &in, &out); err != nil {
			if !errors.Is(err, engines.ErrCorrupt) || m.writes != 0 {
				t.Fatalf("%s on damaged rows: %v, %d writes", in.Type, err, m.writes)
			}
			met++
		}
	}
	if met == 0 {
		t.Error("no transaction met a damaged row")
	}
}

// Warehouses are those that a transaction touches, ascending, each once.
func TestWarehouses(t *testing.T) {
	in := tpcc.Input{Type: tpcc.TxNewOrder, NewOrder: tpcc.NewOrderInput{WID: 3, Count: 3}}
	in.NewOrder.Lines[0].SupplyWID, in.NewOrder.Lines[1].SupplyWID, in.NewOrder.Lines[2].SupplyWID, in.NewOrder.Lines[3].SupplyWID = 3, 1, 7, 9
	if got := Warehouses(nil, &in); len(got) != 3 || got[0] != 1 || got[1] != 3 || got[2] != 7 {
		t.Errorf("New-Order: %v", got)
	}
	in = tpcc.Input{Type: tpcc.TxPayment, Payment: tpcc.PaymentInput{WID: 5, CWID: 2}}
	if got := Warehouses(nil, &in); len(got) != 2 || got[0] != 2 || got[1] != 5 {
		t.Errorf("Payment: %v", got)
	}
}

// nowhere is a Tx whose writes go nowhere and whose reads allocate nothing.
type nowhere struct {
	*memory
	value []byte
}

func (n *nowhere) Get(key []byte) ([]byte, error) {
	v, ok := n.values[string(key)]
	if !ok {
		return nil, nil
	}
	n.value = append(n.value[:0], v...)
	return n.value, nil
}
func (n *nowhere) Set(_, _ []byte) error { return nil }
func (n *nowhere) Delete(_ []byte) error { return nil }

// A New-Order and a Payment by number allocate nothing once Work's buffers have their size.
func TestAllocations(t *testing.T) {
	n := &nowhere{memory: loaded(t, 1)}
	var work Work
	order := tpcc.NewOrderInput{WID: 1, DID: 1, CID: 1, Count: 15}
	for i := range order.Lines {
		order.Lines[i] = tpcc.NewOrderInputLine{IID: int32(i + 1), SupplyWID: 1, Quantity: 3}
	}
	payment := tpcc.PaymentInput{WID: 1, DID: 1, CWID: 1, CDID: 1, CID: 1, Amount: 1}
	var orderOut tpcc.NewOrderOutput
	var paymentOut tpcc.PaymentOutput
	allocations := testing.AllocsPerRun(50, func() {
		if err := errors.Join(work.NewOrder(n, &order, &orderOut), work.Payment(n, &payment, &paymentOut)); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}

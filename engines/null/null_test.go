package null_test

import (
	"errors"
	"testing"

	"tpccbench/engines"
	"tpccbench/engines/null"
	"tpccbench/tpcc"
)

// TestAllocations: no transaction allocates, so that allocations seen in a run are the driver's.
func TestAllocations(t *testing.T) {
	e, err := null.Factory.Open("", engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var (
		in  tpcc.Input
		no  tpcc.NewOrderOutput
		pay tpcc.PaymentOutput
		os  tpcc.OrderStatusOutput
		del tpcc.DeliveryOutput
		sl  tpcc.StockLevelOutput
	)
	n := testing.AllocsPerRun(100, func() {
		err = errors.Join(s.NewOrder(&in.NewOrder, &no), s.Payment(&in.Payment, &pay), s.OrderStatus(&in.OrderStatus, &os),
			s.Delivery(&in.Delivery, &del), s.StockLevel(&in.StockLevel, &sl))
	})
	if n != 0 || err != nil {
		t.Errorf("five transactions make %v allocations, error %v; both must be none", n, err)
	}
}

// TestKeepsNothing: a store that was loaded is still empty, outputs are overwritten, and Factory says that it is none.
func TestKeepsNothing(t *testing.T) {
	e, err := null.Factory.Open("", engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	err = e.Load(func(yield func(*tpcc.Row) bool) {
		for r := range tpcc.Population(1, tpcc.TestScale(1)) {
			rows++
			if !yield(r) {
				return
			}
		}
	})
	if err != nil || rows == 0 {
		t.Fatalf("Load drew %d rows, error %v", rows, err)
	}
	err = e.Snapshot(func(r *tpcc.Row) error { return errors.New("visited " + r.String()) })
	if err != nil {
		t.Error(err)
	}
	s, err := e.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	out := tpcc.DeliveryOutput{OID: [tpcc.Districts]int32{7}}
	if err := s.Delivery(&tpcc.DeliveryInput{WID: 1}, &out); err != nil || out != (tpcc.DeliveryOutput{}) {
		t.Errorf("Delivery gives %+v, error %v; the output must be overwritten with zeros", out, err)
	}
	if !null.Factory.NotAStore {
		t.Error("null.Factory must be marked NotAStore")
	}
}

// TestSettings: it has none.
func TestSettings(t *testing.T) {
	if _, err := null.Factory.Open("", engines.Options{Settings: map[string]string{"sync": "on"}}); !errors.Is(err, engines.ErrSetting) {
		t.Errorf("a setting gives %v; it must be engines.ErrSetting", err)
	}
}

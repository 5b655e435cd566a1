package tpcc

import (
	"fmt"
	"testing"
)

func drawn(seed uint64, number int, s Scale, w Weights, n int, f func(i int, in *Input)) {
	term := NewTerminal(seed, number, s, w)
	var in Input
	for i := range n {
		term.Next(&in)
		f(i, &in)
	}
}

func only(t Type) Weights {
	var w Weights
	w[t] = 1
	return w
}

func TestMixHasItsWeights(t *testing.T) {
	for _, w := range []Weights{StandardMix(), {1, 0, 0, 0, 3}, {0, 0, 7, 0, 0}, {10, 20, 30, 40, 50}} {
		c := newCounter(0, int64(NumTypes)-1)
		drawn(11, 3, StandardScale(4), w, 100_000, func(_ int, in *Input) { c.add(t, "type", int64(in.Type)) })
		p := make([]float64, NumTypes)
		positive := 0
		for i := range p {
			p[i] = float64(w[i]) / float64(w.sum())
			if w[i] > 0 {
				positive++
			} else if c.seen[i] > 0 {
				t.Errorf("weights %s: a type of weight 0 was drawn", w)
			}
		}
		if positive > 1 {
			c.fits(t, "weights "+w.String(), p)
		}
	}
}

func TestNewOrderDraws(t *testing.T) {
	const seed, n = 12, 60_000
	items := nuRandProbabilities(AItem, NewConstants(seed).Item, 1, 2_000)
	customers := nuRandProbabilities(ACustomer, NewConstants(seed).Customer, 1, 3000)
	for _, warehouses := range []int{1, 2, 4} {
		s := StandardScale(warehouses)
		s.Items = 2_000 // so that the exact distribution can be computed
		home := int64(min(2, warehouses))
		district, customer, count := newCounter(1, 10), newCounter(1, 3000), newCounter(5, 15)
		item, quantity, supply := newCounter(1, 2_000), newCounter(1, 10), newCounter(1, int64(warehouses))
		rollbacks, lines, remote := int64(0), int64(0), int64(0)
		drawn(seed, int(home)-1, s, only(TxNewOrder), n, func(i int, in *Input) {
			o := &in.NewOrder
			if in.Type != TxNewOrder || int64(o.WID) != home || o.EntryD != RunDate+int64(i)+1 {
				t.Fatalf("draw %d: type, warehouse or date is wrong: %+v", i, in)
			}
			district.add(t, "d_id", int64(o.DID))
			customer.add(t, "c_id", int64(o.CID))
			count.add(t, "ol_cnt", int64(o.Count))
			for j, line := range o.Lines[:o.Count] {
				lines++
				if line.IID == s.UnusedItem() && j == int(o.Count)-1 {
					rollbacks++
				} else {
					item.add(t, "ol_i_id of a line that is not the last of a rollback", int64(line.IID))
				}
				quantity.add(t, "ol_quantity", int64(line.Quantity))
				if int64(line.SupplyWID) != home {
					remote++
					supply.add(t, "ol_supply_w_id", int64(line.SupplyWID))
				}
			}
		})
		district.uniform(t, "d_id")
		customer.fits(t, "c_id", customers)
		count.uniform(t, "ol_cnt")
		item.fits(t, "ol_i_id", items)
		quantity.uniform(t, "ol_quantity")
		share(t, "rollbacks", rollbacks, n, 0.01)
		if warehouses == 1 {
			if remote != 0 {
				t.Errorf("%d remote lines with one warehouse", remote)
			}
			continue
		}
		share(t, "remote lines", remote, lines, 0.01)
		remoteUniform(t, "ol_supply_w_id", supply, home)
	}
}

// remoteUniform fails unless all warehouses but home were equally likely.
func remoteUniform(t *testing.T, what string, c *counter, home int64) {
	t.Helper()
	p := make([]float64, len(c.seen))
	for i := range p {
		if int64(i)+1 != home {
			p[i] = 1 / float64(len(p)-1)
		}
	}
	if len(p) > 2 {
		c.fits(t, what, p)
	} else if c.seen[2-home] == 0 {
		t.Errorf("%s: the other warehouse was never drawn", what)
	}
}

func TestPaymentDraws(t *testing.T) {
	const seed, n = 13, 60_000
	names := nuRandProbabilities(ALast, NewConstants(seed).LastRun, 0, 999)
	customers := nuRandProbabilities(ACustomer, NewConstants(seed).Customer, 1, 3000)
	for _, warehouses := range []int{1, 2, 4} {
		s := StandardScale(warehouses)
		home := int64(1)
		district, remoteDistrict, remoteWarehouse := newCounter(1, 10), newCounter(1, 10), newCounter(1, int64(warehouses))
		last, customer, amount := newCounter(0, 999), newCounter(1, 3000), newCounter(MinPayment, MaxPayment)
		byName, remote, sameDistrict := int64(0), int64(0), int64(0)
		drawn(seed, 0, s, only(TxPayment), n, func(i int, in *Input) {
			p := &in.Payment
			if in.Type != TxPayment || int64(p.WID) != home || p.Date != RunDate+int64(i)+1 {
				t.Fatalf("draw %d: type, warehouse or date is wrong: %+v", i, in)
			}
			district.add(t, "d_id", int64(p.DID))
			amount.add(t, "h_amount", p.Amount)
			if int64(p.CWID) != home {
				remote++
				remoteWarehouse.add(t, "c_w_id", int64(p.CWID))
				remoteDistrict.add(t, "c_d_id", int64(p.CDID))
				if p.CDID == p.DID {
					sameDistrict++
				}
			} else if p.CDID != p.DID {
				t.Fatalf("draw %d: a home customer of another district: %+v", i, p)
			}
			if p.ByName {
				byName++
				last.add(t, "c_last", int64(p.CLast))
				if p.CID != 0 {
					t.Fatalf("draw %d: both last name and id: %+v", i, p)
				}
			} else {
				customer.add(t, "c_id", int64(p.CID))
				if p.CLast != 0 {
					t.Fatalf("draw %d: both last name and id: %+v", i, p)
				}
			}
		})
		district.uniform(t, "d_id")
		share(t, "by last name", byName, n, 0.6)
		last.fits(t, "c_last", names)
		customer.fits(t, "c_id", customers)
		amount.uniform(t, "h_amount")
		if warehouses == 1 {
			if remote != 0 {
				t.Errorf("%d remote payments with one warehouse", remote)
			}
			continue
		}
		share(t, "remote payments", remote, n, 0.15)
		share(t, "remote payments from the same district", sameDistrict, remote, 0.1)
		remoteUniform(t, "c_w_id", remoteWarehouse, home)
		remoteDistrict.uniform(t, "c_d_id")
	}
}

func TestOrderStatusDraws(t *testing.T) {
	const seed, n = 14, 60_000
	district, last, customer := newCounter(1, 10), newCounter(0, 999), newCounter(1, 3000)
	byName := int64(0)
	drawn(seed, 5, StandardScale(4), only(TxOrderStatus), n, func(i int, in *Input) {
		o := &in.OrderStatus
		if in.Type != TxOrderStatus || o.WID != 2 {
			t.Fatalf("draw %d: type or warehouse is wrong: %+v", i, in)
		}
		district.add(t, "d_id", int64(o.DID))
		if o.ByName {
			byName++
			last.add(t, "c_last", int64(o.CLast))
		} else {
			customer.add(t, "c_id", int64(o.CID))
		}
		if o.ByName && o.CID != 0 || !o.ByName && o.CLast != 0 {
			t.Fatalf("draw %d: both last name and id: %+v", i, o)
		}
	})
	c := NewConstants(seed)
	district.uniform(t, "d_id")
	share(t, "by last name", byName, n, 0.6)
	last.fits(t, "c_last", nuRandProbabilities(ALast, c.LastRun, 0, 999))
	customer.fits(t, "c_id", nuRandProbabilities(ACustomer, c.Customer, 1, 3000))
}

func TestDeliveryDraws(t *testing.T) {
	carrier := newCounter(1, 10)
	drawn(15, 2, StandardScale(4), only(TxDelivery), 20_000, func(i int, in *Input) {
		d := &in.Delivery
		if in.Type != TxDelivery || d.WID != 3 || d.DeliveryD != RunDate+int64(i)+1 {
			t.Fatalf("draw %d: type, warehouse or date is wrong: %+v", i, in)
		}
		carrier.add(t, "o_carrier_id", int64(d.CarrierID))
	})
	carrier.uniform(t, "o_carrier_id")
}

func TestStockLevelDraws(t *testing.T) {
	threshold := newCounter(10, 20)
	drawn(16, 4*2+3, StandardScale(4), only(TxStockLevel), 20_000, func(i int, in *Input) {
		l := &in.StockLevel
		if in.Type != TxStockLevel || l.WID != 4 || l.DID != 3 {
			t.Fatalf("draw %d: type, warehouse or district is wrong: %+v", i, in)
		}
		threshold.add(t, "threshold", int64(l.Threshold))
	})
	threshold.uniform(t, "threshold")
}

// Clause 2.8.1.1: as long as there are at most ten terminals per warehouse, each has a district of its own.
func TestTerminalsSpreadOverWarehousesAndDistricts(t *testing.T) {
	for _, warehouses := range []int{1, 2, 4} {
		seen := map[[2]int32]bool{}
		for number := range warehouses * Districts {
			term := NewTerminal(1, number, StandardScale(warehouses), StandardMix())
			if int(term.HomeWarehouse()) != number%warehouses+1 {
				t.Errorf("W=%d: terminal %d is at warehouse %d", warehouses, number, term.HomeWarehouse())
			}
			seen[[2]int32{term.HomeWarehouse(), term.HomeDistrict()}] = true
		}
		if len(seen) != warehouses*Districts {
			t.Errorf("W=%d: %d terminals share %d districts", warehouses, warehouses*Districts, len(seen))
		}
	}
}

// A terminal's inputs depend on nothing but seed, number, scale and weights: neither on what others draw in between nor
// on what the Input held before.
func TestTerminalsDoNotShareAStream(t *testing.T) {
	s, w := TestScale(2), StandardMix()
	alone := DigestOfRun(9, s, w, []int64{0, 2_000})
	terms := []*Terminal{NewTerminal(9, 0, s, w), NewTerminal(9, 1, s, w)}
	d := NewInputDigest()
	var shared Input
	for i := range 2_000 {
		for range i % 3 {
			terms[0].Next(&shared)
		}
		terms[1].Next(&shared)
		d.Add(&shared)
	}
	if d.String() != alone {
		t.Error("terminal 1 draws otherwise when terminal 0 draws beside it")
	}
	digests := map[string]string{}
	for seed := range uint64(5) {
		for number := range 5 {
			counts := make([]int64, number+1)
			counts[number] = 100
			// With one warehouse the terminals differ by their streams alone.
			digest := DigestOfRun(seed, TestScale(1), only(TxPayment), counts)
			name := fmt.Sprintf("seed %d terminal %d", seed, number)
			if digests[digest] != "" {
				t.Errorf("%s draws what %s draws", name, digests[digest])
			}
			digests[digest] = name
		}
	}
}

func TestConstantsStayDuringARun(t *testing.T) {
	term := NewTerminal(4, 0, TestScale(2), StandardMix())
	var in Input
	for range 10_000 {
		if term.constants != NewConstants(4) {
			t.Fatal("a constant of NURand has changed")
		}
		term.Next(&in)
	}
}

// With a small database all draws stay within it.
func TestDrawsStayWithinASmallScale(t *testing.T) {
	for _, s := range []Scale{TestScale(1), TestScale(3), {Warehouses: 2, Items: 15, Customers: 1, Orders: 1}} {
		within := func(what string, v int32, low, high int) {
			t.Helper()
			if int(v) < low || int(v) > high {
				t.Fatalf("%+v: %s is %d, not %d..%d", s, what, v, low, high)
			}
		}
		named := func(byName bool, last, id int32) {
			t.Helper()
			if byName {
				within("c_last", last, 0, s.LastNames()-1)
			} else {
				within("c_id", id, 1, s.Customers)
			}
		}
		drawn(6, 1, s, StandardMix(), 20_000, func(_ int, in *Input) {
			switch in.Type {
			case TxNewOrder:
				o := &in.NewOrder
				within("c_id", o.CID, 1, s.Customers)
				for i, line := range o.Lines[:o.Count] {
					within("supply", line.SupplyWID, 1, s.Warehouses)
					if i < int(o.Count)-1 {
						within("i_id", line.IID, 1, s.Items)
					} else {
						within("i_id", line.IID, 1, s.Items+1)
					}
				}
			case TxPayment:
				within("c_w_id", in.Payment.CWID, 1, s.Warehouses)
				named(in.Payment.ByName, in.Payment.CLast, in.Payment.CID)
			case TxOrderStatus:
				named(in.OrderStatus.ByName, in.OrderStatus.CLast, in.OrderStatus.CID)
			}
		})
	}
}

// The digest is of the inputs that this version draws. It changes only if they do, and then results of before and
// after cannot be compared.
func TestInputsAreTheSameForever(t *testing.T) {
	for _, g := range []struct {
		warehouses int
		counts     []int64
		want       string
	}{
		{1, []int64{10_000}, goldenInputs1},
		{4, []int64{2_000, 2_000, 2_000, 2_000, 2_000}, goldenInputs4},
	} {
		if got := DigestOfRun(1, StandardScale(g.warehouses), StandardMix(), g.counts); got != g.want {
			t.Errorf("seed 1, W=%d, counts %d: digest %s, not %s", g.warehouses, g.counts, got, g.want)
		}
	}
}

func TestNextDoesNotAllocate(t *testing.T) {
	term := NewTerminal(1, 0, StandardScale(4), StandardMix())
	d := NewInputDigest()
	var in Input
	if n := testing.AllocsPerRun(2_000, func() {
		term.Next(&in)
		d.Add(&in)
	}); n != 0 {
		t.Errorf("%v allocations per transaction", n)
	}
}

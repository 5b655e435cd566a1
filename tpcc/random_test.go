package tpcc

import "testing"

func TestBetweenIsUniformAndReachesItsBounds(t *testing.T) {
	rnd := newStream(1, forTerminal, 0)
	for _, r := range []struct{ x, y int64 }{{1, 10}, {5, 15}, {0, 99}, {0, 0}, {10, 100}, {-3, 3}} {
		c := newCounter(r.x, r.y)
		for range 100_000 {
			c.add(t, "between", rnd.between(r.x, r.y))
		}
		c.reachesBounds(t, "between")
		if r.x < r.y {
			c.uniform(t, "between")
		}
	}
}

// Of the results of raw*3/8, three of eight raw values give a multiple of 3, three more the next number, and only two
// the one after it: a reduction without rejection shows here.
func TestBelowIsUnbiased(t *testing.T) {
	rnd := newStream(1, forTerminal, 0)
	c := newCounter(0, 2)
	for range 90_000 {
		c.add(t, "remainder", rnd.below(3<<61)%3)
	}
	c.uniform(t, "below(3<<61) mod 3")
}

func TestOtherIsUniformAmongTheOthers(t *testing.T) {
	rnd := newStream(2, forTerminal, 0)
	for _, n := range []int32{2, 3, 4, 10} {
		for home := int32(1); home <= n; home++ {
			c := newCounter(1, int64(n)-1)
			for range 10_000 {
				o := rnd.other(home, n)
				if o == home || o < 1 || o > n {
					t.Fatalf("other(%d, %d) is %d", home, n, o)
				}
				if o > home {
					o--
				}
				c.add(t, "other", int64(o))
			}
			if n > 2 {
				c.uniform(t, "other")
			}
		}
	}
}

func TestNURandHasTheDistributionOfClause2_1_6(t *testing.T) {
	for _, u := range []struct {
		name       string
		a, c, x, y int64
	}{
		{"last name", ALast, 87, 0, 999},
		{"customer", ACustomer, 259, 1, 3000},
		{"customer, largest C", ACustomer, ACustomer, 1, 3000},
		{"item, small", AItem, 7911, 1, 1000},
		{"last name, small", ALast, 87, 0, 29},
	} {
		rnd := newStream(3, forTerminal, 0)
		c := newCounter(u.x, u.y)
		for range 150_000 {
			c.add(t, u.name, rnd.nuRand(u.a, u.c, u.x, u.y))
		}
		c.fits(t, u.name, nuRandProbabilities(u.a, u.c, u.x, u.y))
	}
}

func TestConstantsObeyClause2_1_6_1(t *testing.T) {
	load, run := newCounter(0, 15), newCounter(80, 95)
	customer, item := newCounter(0, ACustomer), newCounter(0, AItem)
	var all []Constants
	for seed := range uint64(20_000) {
		c := NewConstants(seed)
		load.add(t, "LastLoad", c.LastLoad)
		run.add(t, "LastRun", c.LastRun)
		customer.add(t, "Customer", c.Customer)
		item.add(t, "Item", c.Item)
		if seed < 300 {
			all = append(all, c)
		}
	}
	load.uniform(t, "LastLoad")
	run.uniform(t, "LastRun")
	customer.uniform(t, "Customer")
	item.uniform(t, "Item")
	for i, l := range all {
		for j, r := range all { // loaded from one seed, run with another
			if d := r.LastRun - l.LastLoad; d < 65 || d > 119 || d == 96 || d == 112 {
				t.Fatalf("seeds %d and %d: LastRun - LastLoad is %d", i, j, d)
			}
		}
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for seed := range uint64(20) {
		for p := forConstants; p <= forTerminal; p++ {
			for number := range uint64(100) {
				s := newStream(seed, p, number)
				first := s.pcg.Uint64()
				if seen[first] != "" {
					t.Fatalf("stream %d of purpose %d of seed %d starts like another", number, p, seed)
				}
				seen[first] = "taken"
			}
		}
	}
}

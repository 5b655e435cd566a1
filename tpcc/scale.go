package tpcc

import "fmt"

// Districts is the number of districts of a warehouse (clause 1.2.1).
const Districts = 10

// MaxLines is the largest number of lines of an order (clause 2.4.1.3).
const MaxLines = 15

// MinLines is the smallest number of lines of an order (clause 2.4.1.3).
const MinLines = 5

// MaxWarehouses is the largest number of warehouses that this project's key widths allow.
const MaxWarehouses = 4096

// Scale is the size of a database. All but Warehouses are fixed by clause 4.3.3.1; StandardScale gives them.
type Scale struct {
	Warehouses  int
	Items       int // rows of ITEM, and of STOCK per warehouse
	Customers   int // per district; also its initial history rows
	Orders      int // per district, at most Customers
	Undelivered int // of Orders, the last ones, which have new-order rows
}

// StandardScale is the population of clause 4.3.3.1.
func StandardScale(warehouses int) Scale {
	return Scale{Warehouses: warehouses, Items: 100_000, Customers: 3_000, Orders: 3_000, Undelivered: 900}
}

// TestScale is a small population for tests: about 1/100 of the standard one. Nothing measured uses it.
func TestScale(warehouses int) Scale {
	return Scale{Warehouses: warehouses, Items: 1_000, Customers: 30, Orders: 30, Undelivered: 9}
}

// Validate says what is wrong with the scale, or nil.
func (s Scale) Validate() error {
	switch {
	case s.Warehouses < 1 || s.Warehouses > MaxWarehouses:
		return fmt.Errorf("warehouses is %d; it must be 1..%d", s.Warehouses, MaxWarehouses)
	case s.Items < MaxLines || s.Customers < 1 || s.Orders < 1 || s.Orders > s.Customers || s.Undelivered < 0 || s.Undelivered > s.Orders:
		return fmt.Errorf("impossible scale %+v", s)
	}
	return nil
}

// LastNames is the number of distinct last names, 1,000 in the standard population.
func (s Scale) LastNames() int { return min(s.Customers, 1_000) }

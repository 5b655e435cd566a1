package consistency

import (
	"fmt"
	"strings"

	"tpccbench/tpcc"
)

// Violation is one place where a database is not what it must be.
type Violation struct {
	Number   int    `json:"number"`   // of the Condition
	Clause   string `json:"clause"`   // of the Condition
	Name     string `json:"name"`     // of the Condition
	Where    string `json:"where"`    // the row: warehouse 1, district 2, order 3001
	What     string `json:"what"`     // the column, or what is counted
	Expected string `json:"expected"` // money with two decimals, "no row" and "null" in words
	Found    string `json:"found"`
	More     int64  `json:"more,omitempty"` // further violations of the same condition, not listed; on its last one only
}

// String is the violation in one line.
func (v Violation) String() string {
	s := fmt.Sprintf("clause %s (%s): %s: %s: expected %s, found %s", v.Clause, v.Name, v.Where, v.What, v.Expected, v.Found)
	if v.More > 0 {
		s += fmt.Sprintf(" (and %d more like it)", v.More)
	}
	return s
}

// Count is the number of violations that a list stands for: those listed and those counted only.
func Count(list []Violation) int64 {
	n := int64(len(list))
	for i := range list {
		n += list[i].More
	}
	return n
}

// Listed is how many violations of one condition a list holds at most. All are counted.
const Listed = 10

// recorder collects violations, at most Listed of each condition.
type recorder struct {
	condition Condition // the one that add records
	list      []Violation
	first     int // of condition in list
	more      int64
}

// start makes c the condition that add records.
func (r *recorder) start(c Condition) {
	r.finish()
	r.condition, r.first = c, len(r.list)
}

// finish closes the condition that was recorded last, and returns the list.
func (r *recorder) finish() []Violation {
	if r.more > 0 {
		r.list[len(r.list)-1].More = r.more
		r.more = 0
	}
	return r.list
}

// add records one violation. expected and found are int64, cents, or a string.
func (r *recorder) add(at place, what string, expected, found any) {
	if len(r.list)-r.first >= Listed {
		r.more++
		return
	}
	r.list = append(r.list, Violation{
		Number: r.condition.Number, Clause: r.condition.Clause, Name: r.condition.Name,
		Where: at.String(), What: what, Expected: fmt.Sprint(expected), Found: fmt.Sprint(found),
	})
}

// equal records a violation unless found is expected.
func (r *recorder) equal(at place, what string, expected, found int64) {
	if expected != found {
		r.add(at, what, expected, found)
	}
}

// cents is money, shown with two decimals.
type cents int64

func (c cents) String() string {
	sign, n := "", int64(c)
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%02d", sign, n/100, n%100)
}

// In words, for expected and found.
const (
	noRow = "no row"
	aRow  = "a row"
	null  = "null"
	value = "not null"
)

// place is where a violation is; the parts that are 0 are not shown.
type place struct {
	table                                        string
	warehouse, district, customer, order, number int64
	item                                         int64
}

func (p place) String() string {
	var parts []string
	if p.table != "" {
		parts = append(parts, p.table)
	}
	for _, part := range []struct {
		name string
		id   int64
	}{{"warehouse", p.warehouse}, {"district", p.district}, {"customer", p.customer}, {"order", p.order}, {"line", p.number},
		{"item", p.item}} {
		if part.id != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", part.name, part.id))
		}
	}
	if parts == nil {
		return "whole database"
	}
	return strings.Join(parts, ", ")
}

// placeOf is the place of a row: its table and key, of a row of HISTORY its customer.
func placeOf(r *tpcc.Row) place {
	c, p := &r.Col, place{table: r.Table.String()}
	switch r.Table {
	case tpcc.Item:
		p.item = c[tpcc.IID]
	case tpcc.Warehouse:
		p.warehouse = c[tpcc.WID]
	case tpcc.District:
		p.warehouse, p.district = c[tpcc.DWID], c[tpcc.DID]
	case tpcc.Customer:
		p.warehouse, p.district, p.customer = c[tpcc.CWID], c[tpcc.CDID], c[tpcc.CID]
	case tpcc.History:
		p.warehouse, p.district, p.customer = c[tpcc.HCWID], c[tpcc.HCDID], c[tpcc.HCID]
	case tpcc.Orders:
		p.warehouse, p.district, p.order = c[tpcc.OWID], c[tpcc.ODID], c[tpcc.OID]
	case tpcc.NewOrder:
		p.warehouse, p.district, p.order = c[tpcc.NOWID], c[tpcc.NODID], c[tpcc.NOOID]
	case tpcc.OrderLine:
		p.warehouse, p.district, p.order, p.number = c[tpcc.OLWID], c[tpcc.OLDID], c[tpcc.OLOID], c[tpcc.OLNumber]
	case tpcc.Stock:
		p.warehouse, p.item = c[tpcc.SWID], c[tpcc.SIID]
	}
	return p
}

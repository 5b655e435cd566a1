package pure

import (
	"fmt"

	"tpccbench/engines/pure/store"
	"tpccbench/tpcc"
)

// session is one terminal. The transaction functions are made once, and find their input and output here, so that
// handing one over allocates nothing.
type session struct {
	store  *store.Store
	writes *store.Session
	reads  *store.Reader

	newOrder, payment, delivery store.TxFunc

	newOrderIn  *tpcc.NewOrderInput
	newOrderOut *tpcc.NewOrderOutput
	paymentIn   *tpcc.PaymentInput
	paymentOut  *tpcc.PaymentOutput
	deliveryIn  *tpcc.DeliveryInput
	deliveryOut *tpcc.DeliveryOutput

	seen itemSet // Stock-Level's
}

func (s *session) Close() error {
	s.reads.Close()
	return nil
}

// missing is the error of a row that an input names and that there is not.
func missing(format string, ids ...any) error {
	return fmt.Errorf("there is no "+format, ids...)
}

// reader is what transactions and snapshots have in common.
type reader interface {
	Get(t store.TableID, key uint64) (store.Row, bool)
	ScanIndex(x store.IndexID, from, to uint64) store.Cursor
}

// customerByName selects the middle one of the customers with that last name, in the order of C_ID (clauses 2.5.2.2
// and 2.6.2.2).
func customerByName(r reader, w, d, last int32) (c int32, err error) {
	if !known(w, warehouseBits) || !known(d, districtBits) || !known(last, lastBits) {
		return 0, missing("customer with last name %d in district %d of warehouse %d", last, d, w)
	}
	from, to := nameKey(w, d, last, 0), nameKey(w, d, last, maxCustomer)
	n := 0
	for cur := r.ScanIndex(customersByName, from, to); cur.Next(); {
		n++
	}
	if n == 0 {
		return 0, missing("customer with last name %d in district %d of warehouse %d", last, d, w)
	}
	cur := r.ScanIndex(customersByName, from, to)
	for range tpcc.MiddleOf(n) + 1 {
		cur.Next()
	}
	return int32(cur.Key() & maxCustomer), nil
}

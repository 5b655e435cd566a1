package kvtpcc

import (
	"fmt"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// Work is the scratch memory of one goroutine that runs transactions. The zero value is ready. It must not be copied
// once it was used.
type Work struct {
	// Shared numbers the rows of HISTORY; all that write to a store have the same. If it is nil, the first Payment finds
	// the last number by itself: that is right for the only Work that writes to a store.
	Shared *Shared
	own    oldest // without a Shared

	key, to []byte
	writes  []write
	bytes   []byte // keys and values of writes
	began   bool   // the writes of this transaction have begun

	// What a scan has found. The functions are made once, so that handing one over allocates nothing.
	found struct {
		visitFirst, visitIDs, visitLines, visitItems func(key, value []byte) bool

		key   []byte // visitFirst's
		ids   []int32
		lines []tpcc.Row
		items []int32
		bad   error
	}

	warehouse, district, customer, order, item, history tpcc.Row
	stock                                               [tpcc.MaxLines]tpcc.Row
}

// write is one that is kept back until all is checked: positions in Work.bytes.
type write struct {
	key, value, end int
	remove          bool
}

// start makes ready for the next transaction.
func (w *Work) start() {
	w.writes, w.bytes, w.began = w.writes[:0], w.bytes[:0], false
	if w.found.visitFirst != nil {
		return
	}
	w.found.visitFirst = func(key, _ []byte) bool {
		w.found.key = append(w.found.key[:0], key...)
		return false
	}
	w.found.visitIDs = func(key, _ []byte) bool {
		if len(key) < customerBytes {
			w.found.bad = damaged(tpcc.Customer, key, nil)
			return false
		}
		w.found.ids = append(w.found.ids, int32(id(key[len(key)-customerBytes:])))
		return true
	}
	w.found.visitLines = func(key, value []byte) bool {
		n := len(w.found.lines)
		w.found.lines = append(w.found.lines, tpcc.Row{Table: tpcc.OrderLine})
		if line := &w.found.lines[n]; !readKey(key, line) || !readValue(value, line) {
			w.found.bad = damaged(tpcc.OrderLine, key, value)
		}
		return w.found.bad == nil
	}
	line := tpcc.Row{Table: tpcc.OrderLine}
	w.found.visitItems = func(key, value []byte) bool {
		if !readValue(value, &line) {
			w.found.bad = damaged(tpcc.OrderLine, key, value)
			return false
		}
		w.found.items = append(w.found.items, int32(line.Col[tpcc.OLIID]))
		return true
	}
}

// queues is what is remembered of the NEW-ORDER queues.
func (w *Work) queues() *oldest {
	if w.Shared != nil {
		return &w.Shared.oldest
	}
	return &w.own
}

// Began says whether the last transaction had begun to write when it returned. If it returned an error, the store's
// transaction must then be given up.
func (w *Work) Began() bool { return w.began }

// get reads the row of table t with that key into row; false if there is none.
func (w *Work) get(r Reader, row *tpcc.Row, t tpcc.Table, ids ...int64) (bool, error) {
	key, ok := appendKey(w.key[:0], t, ids...)
	w.key = key
	if !ok {
		return false, nil
	}
	value, err := r.Get(key)
	if err != nil || value == nil {
		return false, err
	}
	row.Table = t
	copy(row.Col[:], ids)
	if !readValue(value, row) {
		return false, damaged(t, key, value)
	}
	return true, nil
}

// scan visits all keys that begin with w.key.
func (w *Work) scan(r Reader, visit func(key, value []byte) bool) error {
	w.to = appendAfter(w.to[:0], w.key)
	return w.scanTo(r, visit)
}

// scanTo visits all keys from w.key to w.to.
func (w *Work) scanTo(r Reader, visit func(key, value []byte) bool) error {
	w.found.bad = nil
	if err := r.Scan(w.key, w.to, visit); err != nil {
		return err
	}
	return w.found.bad
}

// customerByName selects the middle one of the customers with that last name, in the order of C_ID (clauses 2.5.2.2
// and 2.6.2.2).
func (w *Work) customerByName(r Reader, wid, did, last int32) (int32, error) {
	key, ok := appendNameKey(w.key[:0], int64(wid), int64(did), int64(last))
	w.key, w.found.ids = key, w.found.ids[:0]
	if ok {
		if err := w.scan(r, w.found.visitIDs); err != nil {
			return 0, err
		}
	}
	n := len(w.found.ids)
	if n == 0 {
		return 0, missing("customer with last name %d in district %d of warehouse %d", last, did, wid)
	}
	return w.found.ids[tpcc.MiddleOf(n)], nil
}

// lines reads the lines of an order into w.found.lines, which must be as many as the order says.
func (w *Work) lines(r Reader, order *tpcc.Row) error {
	wid, did, oid, count := order.Col[tpcc.OWID], order.Col[tpcc.ODID], order.Col[tpcc.OID], order.Col[tpcc.OOlCnt]
	key, ok := appendKey(w.key[:0], tpcc.OrderLine, wid, did, oid)
	w.key, w.found.lines = key, w.found.lines[:0]
	if ok {
		if err := w.scan(r, w.found.visitLines); err != nil {
			return err
		}
	}
	if n := len(w.found.lines); int64(n) != count || n > tpcc.MaxLines {
		return fmt.Errorf("%w: order %d in district %d of warehouse %d has %d lines; it should have %d, and not more than %d",
			engines.ErrCorrupt, oid, did, wid, n, count, tpcc.MaxLines)
	}
	return nil
}

// put keeps a row back for writing.
func (w *Work) put(row *tpcc.Row) error {
	s := row.Table.Schema()
	start := len(w.bytes)
	key, ok := appendKey(w.bytes, row.Table, row.Col[:s.Key]...)
	if !ok {
		return fmt.Errorf("%s cannot be stored: an id is too large for its place in the key", row.String())
	}
	w.bytes = appendValue(key, row)
	w.writes = append(w.writes, write{start, len(key), len(w.bytes), false})
	return nil
}

// putBare keeps back what was appended to w.bytes since start: a key whose value is empty, or one that is removed.
func (w *Work) putBare(start int, remove bool) {
	w.writes = append(w.writes, write{start, len(w.bytes), len(w.bytes), remove})
}

// flush writes what was kept back, in the order in which it came.
func (w *Work) flush(tx Tx) error {
	w.began = len(w.writes) > 0
	for _, x := range w.writes {
		var err error
		if x.remove {
			err = tx.Delete(w.bytes[x.key:x.value])
		} else {
			err = tx.Set(w.bytes[x.key:x.value:x.value], w.bytes[x.value:x.end])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Call runs the transaction in, whatever its type is, and leaves its output in the member of out that the type names.
func (w *Work) Call(tx Tx, in *tpcc.Input, out *tpcc.Output) error {
	switch in.Type {
	case tpcc.TxNewOrder:
		return w.NewOrder(tx, &in.NewOrder, &out.NewOrder)
	case tpcc.TxPayment:
		return w.Payment(tx, &in.Payment, &out.Payment)
	case tpcc.TxOrderStatus:
		return w.OrderStatus(tx, &in.OrderStatus, &out.OrderStatus)
	case tpcc.TxDelivery:
		return w.Delivery(tx, &in.Delivery, &out.Delivery)
	case tpcc.TxStockLevel:
		return w.StockLevel(tx, &in.StockLevel, &out.StockLevel)
	}
	return fmt.Errorf("kvtpcc: there is no transaction type %d", in.Type)
}

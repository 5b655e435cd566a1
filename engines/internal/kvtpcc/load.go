package kvtpcc

import (
	"bytes"
	"fmt"
	"iter"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// Format names this encoding. It is part of each adapter's Factory.Format.
const Format = "kvtpcc-1"

// formatKey is where Load says which encoding it was.
var formatKey = []byte{formatByte}

// Load puts every row and every entry of an index through set, in the order of the rows' arrival, then the format. set
// must copy. Adapters sort or not, as suits them; the format must not become durable before the rest.
func Load(rows iter.Seq[*tpcc.Row], set func(key, value []byte) error) error {
	var key, value []byte
	history := uint64(0)
	for row := range rows {
		ok := true
		if row.Table == tpcc.History {
			history++
			key = appendHistoryKey(key[:0], history)
		} else {
			key, ok = appendKey(key[:0], row.Table, row.Col[:row.Table.Schema().Key]...)
		}
		if !ok {
			return fmt.Errorf("load %v: an id is too large for its place in the key", row)
		}
		value = appendValue(value[:0], row)
		if err := set(key, value); err != nil {
			return err
		}
		switch row.Table {
		case tpcc.Customer:
			key, ok = appendNameKey(key[:0], row.Col[tpcc.CWID], row.Col[tpcc.CDID], row.Col[tpcc.CLast])
			if ok {
				key, ok = appendID(key, row.Col[tpcc.CID], customerBytes)
			}
		case tpcc.Orders:
			key, ok = appendCustomerOrderKey(key[:0], row.Col[tpcc.OWID], row.Col[tpcc.ODID], row.Col[tpcc.OCID])
			if ok {
				key, ok = appendNewest(key, row.Col[tpcc.OID])
			}
		default:
			continue
		}
		if !ok {
			return fmt.Errorf("load %v: an id is too large for its place in an index", row)
		}
		if err := set(key, nil); err != nil {
			return err
		}
	}
	return set(formatKey, []byte(Format))
}

// Rows visits every row of r in the order that engines.Engine.Snapshot wants. An error of visit ends it and is returned
// as it is.
func Rows(r Reader, visit func(*tpcc.Row) error) error {
	var row tpcc.Row
	var failed error
	each := func(key, value []byte) bool {
		if !readKey(key, &row) || !readValue(value, &row) {
			failed = damaged(row.Table, key, value)
		} else {
			failed = visit(&row)
		}
		return failed == nil
	}
	for _, t := range tpcc.Tables {
		row = tpcc.Row{Table: t}
		if err := r.Scan([]byte{tableByte(t)}, []byte{tableByte(t) + 1}, each); err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
	}
	return nil
}

// Empty says whether r holds no row.
func Empty(r Reader) (bool, error) {
	empty := true
	err := r.Scan([]byte{tableByte(tpcc.Tables[0])}, []byte{tableByte(tpcc.Tables[tpcc.NumTables-1]) + 1}, func(_, _ []byte) bool {
		empty = false
		return false
	})
	return empty, err
}

// CheckFormat says, wrapping engines.ErrCorrupt, if what r holds is of another encoding than this, or a load that was
// broken off.
func CheckFormat(r Reader) error {
	value, err := r.Get(formatKey)
	switch {
	case err != nil:
		return err
	case value == nil:
		return fmt.Errorf("%w: there is no format beside the rows: its load was broken off; load it anew", engines.ErrCorrupt)
	case !bytes.Equal(value, []byte(Format)):
		return fmt.Errorf("%w: the rows are of the format %q, this program reads %q", engines.ErrCorrupt, value, Format)
	}
	return nil
}

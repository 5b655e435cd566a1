package kvtpcc

import (
	"encoding/binary"
	"fmt"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// appendValue appends the value of a row.
func appendValue(value []byte, row *tpcc.Row) []byte {
	s := row.Table.Schema()
	for _, v := range row.Col[s.Key:len(s.Columns)] {
		value = binary.AppendVarint(value, v)
	}
	return value
}

// readValue sets the columns of row.Table that are in the value; false if it is damaged.
func readValue(value []byte, row *tpcc.Row) bool {
	s := row.Table.Schema()
	for i := s.Key; i < len(s.Columns); i++ {
		v, n := binary.Varint(value)
		if n <= 0 {
			return false
		}
		row.Col[i] = v
		value = value[n:]
	}
	return len(value) == 0
}

// readKey sets the columns of row.Table that are in the key; false if it is none of that table's.
func readKey(key []byte, row *tpcc.Row) bool {
	if len(key) == 0 || key[0] != tableByte(row.Table) {
		return false
	}
	key = key[1:]
	if row.Table == tpcc.History {
		return len(key) == historyBytes
	}
	s := row.Table.Schema()
	for i, c := range s.Columns[:s.Key] {
		if len(key) < c.Bytes {
			return false
		}
		row.Col[i] = id(key[:c.Bytes])
		key = key[c.Bytes:]
	}
	return len(key) == 0
}

// damaged is the error of an entry that this package has not written.
func damaged(t tpcc.Table, key, value []byte) error {
	return fmt.Errorf("%w: %s: the entry with key %x has the value %x, which is none of that table's", engines.ErrCorrupt, t, key, value)
}

// missing is the error of a row that an input names and that there is not.
func missing(format string, ids ...any) error {
	return fmt.Errorf("there is no "+format, ids...)
}

// lost is the error of a row that another row names and that there is not.
func lost(format string, ids ...any) error {
	return fmt.Errorf("%w: there is no "+format, append([]any{engines.ErrCorrupt}, ids...)...)
}

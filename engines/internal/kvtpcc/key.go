package kvtpcc

import (
	"encoding/binary"

	"tpccbench/tpcc"
)

// First bytes of keys, besides those of the tables.
const (
	formatByte           = 0x00
	customersByNameByte  = 0x40
	ordersByCustomerByte = 0x41
)

// Widths of ids in keys, bytes, as tpcc.Schema has them; of HISTORY's number.
const (
	warehouseBytes = 2
	districtBytes  = 1
	customerBytes  = 2
	orderBytes     = 4
	lineBytes      = 1
	itemBytes      = 3
	lastBytes      = 2
	historyBytes   = 8
)

// tableByte is the first byte of a table's keys.
func tableByte(t tpcc.Table) byte { return byte(t) + 1 }

// appendID appends an id of that many bytes to a key; false if it has no place there, so that no row has it.
func appendID(key []byte, id int64, bytes int) ([]byte, bool) {
	if id < 0 || id>>(8*bytes) != 0 {
		return key, false
	}
	for shift := 8 * (bytes - 1); shift >= 0; shift -= 8 {
		key = append(key, byte(id>>shift))
	}
	return key, true
}

// id reads a big-endian number.
func id(b []byte) int64 {
	n := int64(0)
	for _, c := range b {
		n = n<<8 | int64(c)
	}
	return n
}

// appendKey appends a table's key, or the beginning of one, of the ids given; false if one of them has no place in it.
func appendKey(key []byte, t tpcc.Table, ids ...int64) ([]byte, bool) {
	key = append(key, tableByte(t))
	columns := t.Schema().Columns
	for i, n := range ids {
		var ok bool
		if key, ok = appendID(key, n, columns[i].Bytes); !ok {
			return key, false
		}
	}
	return key, true
}

// appendHistoryKey appends the key of HISTORY's row of that number.
func appendHistoryKey(key []byte, number uint64) []byte {
	return binary.BigEndian.AppendUint64(append(key, tableByte(tpcc.History)), number)
}

// appendNameKey appends the beginning, without C_ID, of keys of the index of customers by name.
func appendNameKey(key []byte, w, d, last int64) ([]byte, bool) {
	key, okW := appendID(append(key, customersByNameByte), w, warehouseBytes)
	key, okD := appendID(key, d, districtBytes)
	key, okLast := appendID(key, last, lastBytes)
	return key, okW && okD && okLast
}

// appendCustomerOrderKey appends the beginning, without O_ID, of keys of the index of a customer's orders.
func appendCustomerOrderKey(key []byte, w, d, c int64) ([]byte, bool) {
	key, okW := appendID(append(key, ordersByCustomerByte), w, warehouseBytes)
	key, okD := appendID(key, d, districtBytes)
	key, okC := appendID(key, c, customerBytes)
	return key, okW && okD && okC
}

// appendNewest appends an order's number so that a larger one comes first.
func appendNewest(key []byte, order int64) ([]byte, bool) {
	if order < 0 || order>>(8*orderBytes) != 0 {
		return key, false
	}
	return binary.BigEndian.AppendUint32(key, ^uint32(order)), true
}

// newest reads what appendNewest wrote.
func newest(b []byte) int64 { return int64(^binary.BigEndian.Uint32(b)) }

// appendAfter appends the least key that is larger than all that begin with prefix, which is not all 0xff.
func appendAfter(key, prefix []byte) []byte {
	n := len(prefix)
	for prefix[n-1] == 0xff {
		n--
	}
	key = append(key, prefix[:n]...)
	key[len(key)-1]++
	return key
}

// IsIndex says whether a key that Load gave is an entry of an index, whose value is empty. They sort after all rows.
func IsIndex(key []byte) bool { return key[0] >= customersByNameByte }

// IsFormat says whether a key that Load gave is the format's, which sorts before all rows.
func IsFormat(key []byte) bool { return key[0] == formatByte }

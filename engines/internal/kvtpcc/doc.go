// Package kvtpcc is TPC-C over an ordered key-value store: how rows become keys and values, and the five transactions
// on them. The adapters of such stores share it, so that they differ in the store and in nothing else.
//
// # Keys
//
// A key is one byte that names the table, then ids, each an unsigned big-endian number of fixed width, so that the
// order of keys is the order of ids. A width is the one that tpcc.Schema gives the column: warehouse 2 bytes, district
// 1, customer 2, order 4, line 1, item 3, last name 2.
//
//	0x00                                        the format: the value is the text of Format
//	0x01 i_id                                   ITEM
//	0x02 w_id                                   WAREHOUSE
//	0x03 d_w_id d_id                            DISTRICT
//	0x04 c_w_id c_d_id c_id                     CUSTOMER
//	0x05 number (8 bytes)                       HISTORY, which has no key: a running number, from 1, with gaps
//	0x06 o_w_id o_d_id o_id                     ORDERS
//	0x07 no_w_id no_d_id no_o_id                NEW_ORDER
//	0x08 ol_w_id ol_d_id ol_o_id ol_number      ORDER_LINE
//	0x09 s_w_id s_i_id                          STOCK
//	0x40 c_w_id c_d_id c_last c_id              index: customers by last name, then C_ID; the value is empty
//	0x41 o_w_id o_d_id o_c_id ^o_id             index: orders of a customer; the value is empty
//
// The last index holds the complement of O_ID, so that a seek forward finds the customer's newest order. The table's
// byte is tpcc.Table plus one. The format is the last entry that a Load writes: rows without it are a load that was
// broken off.
//
// # Values
//
// A value is the columns that are not in the key, in the order of tpcc.Schema, each a signed varint (zigzag, as
// encoding/binary has it). HISTORY has all its columns in the value; NEW_ORDER has none, its value is empty. Null is 0.
//
// No row is split into a hot and a cold part. That pays where an update would carry columns along that are large and
// never change, the texts of CUSTOMER and STOCK; the numeric profile has no texts, these rows are 30 and 8 bytes, and a
// second key would cost more than it saves in every store.
//
// # Transactions
//
// A transaction makes all its reads and checks before its first write, and keeps the writes back until then. One that
// fails on its input or rolls back has written nothing, so that many can share one transaction of the store without
// savepoints. Rows are inserted without a look whether they are there: D_NEXT_O_ID has given the number to this order
// alone.
package kvtpcc

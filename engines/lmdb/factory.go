package lmdb

import (
	"tpccbench/engines"
	"tpccbench/engines/internal/kvtpcc"
)

// Factory opens LMDB stores. Without the tag lmdb it says what is missing.
var Factory = engines.Factory{
	Name:   "lmdb",
	Doc:    "LMDB, a B+ tree in one mapped file, in C; fdatasync and a synchronous meta page per commit, of one transaction or of all that wait",
	Format: "lmdb-" + kvtpcc.Format,
	Settings: []engines.Setting{
		{Name: "commit", Doc: "one transaction per commit, or one commit for all that wait",
			Default: "per_transaction", Values: []string{"per_transaction", "grouped"}},
		{Name: "map_size_bytes", Doc: "address space of the map, which the file cannot outgrow", Default: "68719476736"},
	},
}

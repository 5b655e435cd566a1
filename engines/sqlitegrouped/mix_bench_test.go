package sqlitegrouped_test

import (
	"testing"

	"tpccbench/engines/internal/sqltpcc/sqlbench"
	"tpccbench/engines/sqlitegrouped"
)

// BenchmarkMix is the Go side of engines/internal/sqltpcc/cbench/compare.sh.
func BenchmarkMix(b *testing.B) { sqlbench.Mix(b, sqlitegrouped.Factory) }

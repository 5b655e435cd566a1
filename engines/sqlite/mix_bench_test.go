package sqlite_test

import (
	"testing"

	"tpccbench/engines/internal/sqltpcc/sqlbench"
	"tpccbench/engines/sqlite"
)

// BenchmarkMix is the Go side of engines/internal/sqltpcc/cbench/compare.sh.
func BenchmarkMix(b *testing.B) { sqlbench.Mix(b, sqlite.Factory) }

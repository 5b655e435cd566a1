package sqlite_test

import (
	"testing"

	"tpccbench/engines/enginetest"
	"tpccbench/engines/internal/sqltpcc/sqltest"
	"tpccbench/engines/sqlite"
)

func TestEngine(t *testing.T) { enginetest.Run(t, sqlite.Factory) }

// TestTuned is the suite with the settings of the study's tuning runs.
func TestTuned(t *testing.T) {
	enginetest.RunWith(t, sqlite.Factory, map[string]string{"page_size": "1024", "mmap_size_bytes": "1073741824",
		"cache_size_kib": "65536", "temp_store": "memory", "wal_checkpoint_bytes": "40000000"})
}

func TestFullDisk(t *testing.T) { sqltest.FullDisk(t, sqlite.Factory, nil) }

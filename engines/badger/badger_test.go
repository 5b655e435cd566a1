package badger_test

import (
	"maps"
	"testing"

	"tpccbench/engines/badger"
	"tpccbench/engines/enginetest"
)

// TestEngine is the suite; with -short memtables are small: each Open takes the memory of one.
func TestEngine(t *testing.T) {
	settings := map[string]string{}
	if testing.Short() {
		settings = map[string]string{"memtable_bytes": "16777216", "block_cache_bytes": "4194304"}
	}
	enginetest.RunWith(t, badger.Factory, settings)
}

// TestForms is the suite with the other ways of keeping transactions apart, small memtables, and values in the value
// log.
func TestForms(t *testing.T) {
	small := map[string]string{"memtable_bytes": "16777216", "block_cache_bytes": "4194304", "value_log_file_bytes": "1048576",
		"value_threshold_bytes": "32", "compression": "none", "verify_checksums": "none"}
	forms := []string{"optimistic", "warehouse"}
	if testing.Short() {
		forms = forms[:1] // without -short the other too
	}
	for _, concurrency := range forms {
		t.Run(concurrency, func(t *testing.T) {
			settings := maps.Clone(small)
			settings["concurrency"] = concurrency
			enginetest.RunForm(t, badger.Factory, settings)
		})
	}
}

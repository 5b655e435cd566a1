package pebble_test

import (
	"maps"
	"testing"

	"tpccbench/engines/enginetest"
	"tpccbench/engines/pebble"
)

func TestEngine(t *testing.T) { enginetest.Run(t, pebble.Factory) }

// TestForms is the suite with other values of the settings: one writer, and tables so small that flushes and
// compactions run all the time.
func TestForms(t *testing.T) {
	small := map[string]string{"memtable_bytes": "262144", "block_cache_bytes": "1048576", "block_size_bytes": "1024",
		"compression": "none", "bloom_bits_per_key": "0", "l0_stop_writes_threshold": "12"}
	forms := []string{"writer", "warehouse"}
	if testing.Short() {
		forms = forms[:1] // TestEngine has the other
	}
	for _, concurrency := range forms {
		t.Run(concurrency, func(t *testing.T) {
			settings := maps.Clone(small)
			settings["concurrency"] = concurrency
			enginetest.RunForm(t, pebble.Factory, settings)
		})
	}
}

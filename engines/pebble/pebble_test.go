package pebble_test

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"tpccbench/engines"
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

// Settings that contradict each other are refused, each with its values.
func TestContradictions(t *testing.T) {
	for _, test := range []struct {
		settings map[string]string
		says     string
	}{
		{map[string]string{"block_cache_bytes": "134217728"}, "block_cache_bytes=134217728 is less than memtables x memtable_bytes = 268435456"},
		{map[string]string{"l0_stop_writes_threshold": "3", "l0_compaction_threshold": "4"}, "l0_stop_writes_threshold=3 is less than l0_compaction_threshold=4"},
	} {
		_, err := pebble.Factory.Open(t.TempDir(), engines.Options{Settings: test.settings})
		if !errors.Is(err, engines.ErrSetting) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v: %v", test.settings, err)
		}
	}
}

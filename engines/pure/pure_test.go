package pure_test

import (
	"testing"

	"tpccbench/engines/enginetest"
	"tpccbench/engines/pure"
)

// TestConformance: the defaults, but for the reserve, which takes more time to write than all else.
func TestConformance(t *testing.T) {
	enginetest.RunWith(t, pure.Factory, map[string]string{"log_reserve_bytes": "0"})
}

// TestConformanceSmall runs the suite with segments and checkpoints so small that both happen all the time.
func TestConformanceSmall(t *testing.T) {
	enginetest.RunWith(t, pure.Factory, map[string]string{"log_segment_bytes": "65536", "checkpoint_min_bytes": "65536", "checkpoint_log_ratio": "0.01",
		"log_reserve_bytes": "262144"})
}

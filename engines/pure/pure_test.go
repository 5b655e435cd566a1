package pure_test

import (
	"testing"

	"tpccbench/engines/enginetest"
	"tpccbench/engines/pure"
)

func TestConformance(t *testing.T) { enginetest.Run(t, pure.Factory) }

// TestConformanceSmall runs the suite with segments and checkpoints so small that both happen all the time.
func TestConformanceSmall(t *testing.T) {
	enginetest.RunWith(t, pure.Factory, map[string]string{"log_segment_bytes": "65536", "checkpoint_min_bytes": "65536", "checkpoint_log_ratio": "0.01"})
}

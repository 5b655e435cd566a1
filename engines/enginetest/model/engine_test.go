package model_test

import (
	"testing"

	"tpccbench/engines/enginetest"
	"tpccbench/engines/enginetest/model"
)

// TestConformance: the suite accepts the engine that is right by definition.
func TestConformance(t *testing.T) { enginetest.Run(t, model.Factory) }

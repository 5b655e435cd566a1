package sqlitegrouped_test

import (
	"testing"

	"tpccbench/engines/enginetest"
	"tpccbench/engines/sqlitegrouped"
)

func TestEngine(t *testing.T) { enginetest.Run(t, sqlitegrouped.Factory) }

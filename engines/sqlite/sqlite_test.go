package sqlite_test

import (
	"testing"

	"tpccbench/engines/enginetest"
	"tpccbench/engines/sqlite"
)

func TestEngine(t *testing.T) { enginetest.Run(t, sqlite.Factory) }

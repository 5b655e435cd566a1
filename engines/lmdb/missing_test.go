//go:build !(cgo && lmdb)

package lmdb_test

import (
	"strings"
	"testing"

	"tpccbench/engines"
	"tpccbench/engines/lmdb"
)

// Without its tag the engine says in one line what is missing and how to get it, and Open says the same.
func TestMissing(t *testing.T) {
	missing := lmdb.Factory.Missing
	if !strings.Contains(missing, "liblmdb-dev") || !strings.Contains(missing, "-tags lmdb") || strings.Contains(missing, "\n") {
		t.Errorf("Missing is %q", missing)
	}
	if _, err := lmdb.Factory.Open(t.TempDir(), engines.Options{}); err == nil || err.Error() != missing {
		t.Errorf("Open: %v", err)
	}
}

//go:build !(cgo && lmdb)

package lmdb_test

import (
	"strings"
	"testing"

	"tpccbench/engines/lmdb"
)

// Without its tag the package has no engine and says in one line how to get it.
func TestMissing(t *testing.T) {
	if n := len(lmdb.Factories()); n != 0 {
		t.Errorf("%d engines without the tag", n)
	}
	if !strings.Contains(lmdb.Missing, "-tags lmdb") || strings.Contains(lmdb.Missing, "\n") {
		t.Errorf("Missing is %q", lmdb.Missing)
	}
}

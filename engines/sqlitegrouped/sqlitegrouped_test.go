package sqlitegrouped_test

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"tpccbench/engines"
	"tpccbench/engines/enginetest"
	"tpccbench/engines/internal/sqltpcc/sqltest"
	"tpccbench/engines/sqlitegrouped"
)

func TestEngine(t *testing.T) { enginetest.Run(t, sqlitegrouped.Factory) }

// forms are the other values of the settings that this adapter adds, with other values of SQLite's own.
var forms = []map[string]string{
	{"reads": "writer", "page_size": "1024"},
	{"savepoint": "need", "wal_checkpoint_bytes": "65536"},
	{"reads": "writer", "savepoint": "need", "mmap_size_bytes": "1073741824", "cache_size_kib": "65536", "temp_store": "memory"},
}

// eachForm runs a subtest for each of forms.
func eachForm(t *testing.T, test func(*testing.T, map[string]string)) {
	for _, settings := range forms {
		t.Run(fmt.Sprintf("reads=%s,savepoint=%s", settings["reads"], settings["savepoint"]), func(t *testing.T) {
			test(t, maps.Clone(settings))
		})
	}
}

func TestForms(t *testing.T) {
	eachForm(t, func(t *testing.T, settings map[string]string) { enginetest.RunWith(t, sqlitegrouped.Factory, settings) })
}

func TestFullDisk(t *testing.T) {
	sqltest.FullDisk(t, sqlitegrouped.Factory, nil)
	eachForm(t, func(t *testing.T, settings map[string]string) { sqltest.FullDisk(t, sqlitegrouped.Factory, settings) })
}

// TestOwnerThread shows that Facts.OwnerTID is a thread of this process under the writer's name.
func TestOwnerThread(t *testing.T) {
	e, err := sqlitegrouped.Factory.Open(t.TempDir(), engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := e.Facts()
	if err != nil {
		t.Error(err)
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/comm", f.OwnerTID))
	if err != nil || strings.TrimSpace(string(name)) != "sqlite-writer" {
		t.Errorf("thread %d is called %q, %v; want sqlite-writer", f.OwnerTID, name, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

package sqltpcc

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tpccbench/engines"
)

func itoa(n int) string { return strconv.Itoa(n) }

// TestSettingsReadBack shows that Facts.Settings is what SQLite has, for SQLite's defaults and for others.
func TestSettingsReadBack(t *testing.T) {
	for _, c := range []struct{ set, want map[string]string }{
		{nil, map[string]string{"journal_mode": "wal", "synchronous": "full", "page_size": "4096", "mmap_size_bytes": "0",
			"cache_size_kib": "2000", "temp_store": "default", "wal_autocheckpoint": "1000", "wal_checkpoint_bytes": "4096000",
			"sqlite_version": "3.54.1", "locking_mode": "normal"}},
		{map[string]string{"page_size": "1024", "mmap_size_bytes": "1073741824", "cache_size_kib": "65536", "temp_store": "memory",
			"wal_checkpoint_bytes": "40000000"},
			map[string]string{"journal_mode": "wal", "synchronous": "full", "page_size": "1024", "mmap_size_bytes": "1073741824",
				"cache_size_kib": "65536", "temp_store": "memory", "wal_autocheckpoint": "39062", "wal_checkpoint_bytes": "39999488"}},
	} {
		s := openTest(t, t.TempDir(), c.set)
		f, err := s.Facts()
		if err != nil {
			t.Fatal(err)
		}
		session, err := readBack(connectTest(t, s))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range c.want {
			if f.Settings[name] != want {
				t.Errorf("with %v: Facts.Settings[%s] is %q; want %q", c.set, name, f.Settings[name], want)
			}
			if session[name] != want {
				t.Errorf("with %v: a session's %s is %q; want %q", c.set, name, session[name], want)
			}
		}
		if got, want := f.Settings["fdatasync"], map[bool]string{true: "yes", false: "no"}[HasFdatasync()]; got != want {
			t.Errorf("Facts.Settings[fdatasync] is %q; want %q", got, want)
		}
	}
}

// TestBadSettings shows that values which SQLite would bend or ignore are refused.
func TestBadSettings(t *testing.T) {
	for name, value := range map[string]string{"mmap_size_bytes": "4000000000000", "wal_checkpoint_bytes": "4095", "cache_size_kib": "0"} {
		s, err := Open(t.TempDir(), engines.Options{Settings: map[string]string{name: value}})
		if err == nil {
			err = errors.Join(errors.New("opened"), s.Close())
		}
		if !errors.Is(err, engines.ErrSetting) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v; want engines.ErrSetting and the name", name, value, err)
		}
	}
}

// TestPageSizeOfStore shows that a store keeps its page size: another one asked for is refused, none is fine.
func TestPageSizeOfStore(t *testing.T) {
	dir := t.TempDir()
	open := func(settings map[string]string) error {
		s, err := Open(dir, engines.Options{Settings: settings})
		if err != nil {
			return err
		}
		f, err := s.Facts()
		if f.Settings["page_size"] != "1024" {
			t.Errorf("page_size is %s with %v; want 1024", f.Settings["page_size"], settings)
		}
		return errors.Join(err, s.Close())
	}
	for _, size := range []string{"1024", "", "1024"} {
		settings := map[string]string{"page_size": size}
		if size == "" {
			settings = nil
		}
		if err := open(settings); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(map[string]string{"page_size": "4096"}); !errors.Is(err, engines.ErrSetting) {
		t.Errorf("page_size=4096 on a store of 1024: %v; want engines.ErrSetting", err)
	}
}

// TestForeignDatabase shows that another program's SQLite database and a WAL without its database are refused, and left
// as they are.
func TestForeignDatabase(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.keeper.exec("PRAGMA application_id=7"), s.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, databaseName)
	if err := refused(dir, path); err != nil {
		t.Error(err)
	}
	if err := errors.Join(os.Truncate(path, 0), os.WriteFile(path+"-wal", []byte("frames"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := refused(dir, path); err != nil {
		t.Error(err)
	}
	if wal, err := os.ReadFile(path + "-wal"); string(wal) != "frames" {
		t.Errorf("the WAL now holds %q, %v", wal, err)
	}
}

// refused wants Open to fail with engines.ErrCorrupt and the file's name.
func refused(dir, path string) error {
	s, err := Open(dir, engines.Options{})
	if err == nil {
		return errors.Join(errors.New("opened "+path), s.Close())
	}
	if !errors.Is(err, engines.ErrCorrupt) || !strings.Contains(err.Error(), path) {
		return err
	}
	return nil
}

// TestLongPath shows that a path too long for SQLite is told as such.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 200), strings.Repeat("e", 200), strings.Repeat("f", 200))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, engines.Options{})
	if err == nil {
		err = errors.Join(errors.New("opened"), s.Close())
	}
	if !strings.Contains(err.Error(), "SQLite takes paths of up to") {
		t.Error(err)
	}
}

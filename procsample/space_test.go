package procsample

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestSpaceFrom(t *testing.T) {
	s := spaceFrom(16384, 100, 4096)
	has(t, "free", s.Free, 409600)
	has(t, "size", s.Size, 64<<20)
	has(t, "free when full", spaceFrom(16384, 0, 4096).Free, 0)
	for what, s := range map[string]Space{"size=0": spaceFrom(0, 0, 4096), "no unit": spaceFrom(5, 5, 0)} {
		lacks(t, what, s.Free, "no size")
		lacks(t, what, s.Size, "no size")
	}
	lacks(t, "huge", spaceFrom(math.MaxUint64, 1, 4096).Size, "out of range")
}

func TestSpaceOf(t *testing.T) {
	dir := t.TempDir()
	s := SpaceOf(dir)
	if !s.Free.OK() || !s.Size.OK() || s.Free.N > s.Size.N {
		t.Errorf("the file system of a temporary directory has %v of %v free", s.Free, s.Size)
	}
	gone := SpaceOf(filepath.Join(dir, "none"))
	lacks(t, "free", gone.Free, "statfs ")
	lacks(t, "size", gone.Size, "statfs ")
}

// SQLite's order: the first that is a directory, and writable.
func TestTempDir(t *testing.T) {
	one, two, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "file")
	mustDo(t, os.WriteFile(file, nil, 0o777))
	for _, c := range []struct{ sqlite, tmp, want string }{
		{one, two, one},
		{"", two, two},
		{file, two, two},
		{filepath.Join(one, "none"), two, two},
	} {
		t.Setenv("SQLITE_TMPDIR", c.sqlite)
		t.Setenv("TMPDIR", c.tmp)
		if got, err := TempDir(); err != nil || got != c.want {
			t.Errorf("SQLITE_TMPDIR=%s TMPDIR=%s: %s, %v, want %s", c.sqlite, c.tmp, got, err, c.want)
		}
	}

	t.Setenv("SQLITE_TMPDIR", "")
	t.Setenv("TMPDIR", "")
	if got, err := TempDir(); err != nil || got == one || got == two {
		t.Errorf("without variables: %s, %v", got, err)
	}

	if os.Getuid() == 0 {
		t.Skip("root may write anywhere: a directory that may not be written to cannot be made")
	}
	mustDo(t, os.Chmod(one, 0o500))
	t.Setenv("SQLITE_TMPDIR", one)
	t.Setenv("TMPDIR", two)
	if got, err := TempDir(); err != nil || got != two {
		t.Errorf("SQLITE_TMPDIR may not be written to: %s, %v, want %s", got, err, two)
	}
}

func TestTempDirDevice(t *testing.T) {
	f := newFixture(t, "system.txtar")
	dir := t.TempDir()
	t.Setenv("SQLITE_TMPDIR", dir)
	if d := f.TempDirDevice(); d.Name() != "none" || d.Reason == "" {
		t.Errorf("a directory that the fixture does not know is on %s (%s)", d.Name(), d.Reason)
	}
	f.mountID = func(path string) (int, error) {
		if path != dir {
			t.Errorf("asked for %s, want %s", path, dir)
		}
		return 25, nil
	}
	if d := f.TempDirDevice(); d.Name() != "mmcblk0p2" {
		t.Errorf("the temporary directory is on %s (%s), want mmcblk0p2", d.Name(), d.Reason)
	}
}

package emulate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
)

func mount(fsType, root, point string, options ...string) *procfs.MountInfo {
	m := &procfs.MountInfo{FSType: fsType, Root: root, MountPoint: point, SuperOptions: map[string]string{}}
	for _, o := range options {
		m.SuperOptions[o] = ""
	}
	return m
}

// The controller is found in both versions, also where a mount shows only a part of the groups.
func TestFindController(t *testing.T) {
	v1 := []procfs.Cgroup{{HierarchyID: 7, Controllers: []string{"blkio"}, Path: "/a/b"}, {HierarchyID: 0, Path: "/"}}
	v2 := []procfs.Cgroup{{HierarchyID: 0, Path: "/user/c"}}
	unified := mount("cgroup2", "/", "/cg/unified")
	for _, c := range []struct {
		name   string
		groups []procfs.Cgroup
		mounts []*procfs.MountInfo
		want   controller
		err    string
	}{
		{"version 1", v1, []*procfs.MountInfo{unified, mount("cgroup", "/", "/cg/cpu", "cpu"), mount("cgroup", "/", "/cg/blkio", "blkio")},
			controller{1, "/cg/blkio", "/cg/blkio/a/b"}, ""},
		{"version 1, a container's part", v1, []*procfs.MountInfo{mount("cgroup", "/a", "/cg/blkio", "blkio")},
			controller{1, "/cg/blkio", "/cg/blkio/b"}, ""},
		{"version 1, another's part", v1, []*procfs.MountInfo{mount("cgroup", "/ab", "/cg/blkio", "blkio")},
			controller{1, "/cg/blkio", "/cg/blkio"}, ""},
		{"version 2", v2, []*procfs.MountInfo{unified}, controller{2, "/cg/unified", "/cg/unified/user/c"}, ""},
		{"version 1, not mounted", v1, []*procfs.MountInfo{unified}, controller{}, "version 1"},
		{"none", nil, []*procfs.MountInfo{unified}, controller{}, "no block-I/O controller"},
	} {
		got, err := findController(c.groups, c.mounts)
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %+v, %v; want %+v, error %q", c.name, got, err, c.want, c.err)
		}
	}
}

// files makes control files with contents.
func files(t *testing.T, content map[string]string) string {
	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, path ...string) string {
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var testLimits = Limits{WriteBytesPerS: 5e6, ReadBytesPerS: 8e6, WritesPerS: 200, ReadsPerS: 900}

// Version 1: each limit is written in its file and seen there. (A real control file replaces a device's line; a plain
// one is overwritten from its beginning.)
func TestSetThrottle(t *testing.T) {
	dir := files(t, map[string]string{
		"blkio.throttle.write_bps_device": "", "blkio.throttle.read_bps_device": "",
		"blkio.throttle.write_iops_device": "", "blkio.throttle.read_iops_device": "",
	})
	l, err := controller{1, dir, dir}.set("7:3", testLimits, "unused")
	if err != nil || l != (limiting{1, dir}) {
		t.Fatalf("%+v, %v", l, err)
	}
	for file, want := range map[string]string{
		"blkio.throttle.write_bps_device": "7:3 5000000", "blkio.throttle.read_bps_device": "7:3 8000000",
		"blkio.throttle.write_iops_device": "7:3 200", "blkio.throttle.read_iops_device": "7:3 900",
	} {
		if got := read(t, dir, file); got != want {
			t.Errorf("%s is %q; want %q", file, got, want)
		}
	}
}

// Version 1: limits that are not those that were set, or of another device, stay.
func TestClearThrottle(t *testing.T) {
	dir := files(t, map[string]string{
		"blkio.throttle.write_bps_device":  "7:3 5000000\n", // set by set
		"blkio.throttle.read_bps_device":   "7:3 1234\n",    // another's
		"blkio.throttle.write_iops_device": "8:0 200\n",     // another device
		"blkio.throttle.read_iops_device":  "",
	})
	if err := (limiting{1, dir}).clear("7:3", testLimits); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"blkio.throttle.write_bps_device": "7:3 0", "blkio.throttle.read_bps_device": "7:3 1234\n",
		"blkio.throttle.write_iops_device": "8:0 200\n", "blkio.throttle.read_iops_device": "",
	} {
		if got := read(t, dir, file); !strings.HasPrefix(got, want) {
			t.Errorf("%s is %q; want %q", file, got, want)
		}
	}
}

// A controller that takes no limits is an error with the file.
func TestSetDenied(t *testing.T) {
	dir := t.TempDir()
	_, err := controller{1, dir, dir}.set("7:3", testLimits, "unused")
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "blkio.throttle") {
		t.Errorf("error %v; want one that names the file", err)
	}
	_, err = controller{2, dir, dir}.set("7:3", testLimits, "group")
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "cgroup.subtree_control") {
		t.Errorf("error %v; want one that names the file", err)
	}
}

// Joining moves this process into the group with the limits and back into its own; in its own already it does nothing.
func TestJoin(t *testing.T) {
	dir := files(t, map[string]string{"cgroup.procs": "", "own/cgroup.procs": ""})
	own := filepath.Join(dir, "own")
	leave, err := controller{1, dir, own}.join(limiting{1, dir})
	if err != nil || read(t, dir, "cgroup.procs") == "" || read(t, own, "cgroup.procs") != "" {
		t.Fatalf("error %v, or not in the group", err)
	}
	if err := leave(); err != nil || read(t, own, "cgroup.procs") != read(t, dir, "cgroup.procs") {
		t.Errorf("error %v, or not back", err)
	}
	empty := t.TempDir()
	if leave, err = (controller{1, empty, empty}).join(limiting{1, empty}); err != nil || leave() != nil {
		t.Errorf("nothing had to be done: %v", err)
	}
	if _, err := (controller{2, dir, filepath.Join(dir, dirPrefix+"1")}).join(limiting{2, filepath.Join(dir, dirPrefix+"2")}); err == nil ||
		!strings.Contains(err.Error(), "one emulated card") {
		t.Errorf("error %v; want a refusal of the second card", err)
	}
}

package procsample

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
)

// Without a mount ID (before Linux 5.8) the longest mount point above a path counts, and of equal ones the later.
func TestFindMount(t *testing.T) {
	mounts := []*procfs.MountInfo{
		{MountID: 1, MountPoint: "/"},
		{MountID: 2, MountPoint: "/data"},
		{MountID: 3, MountPoint: `/data/a\040b`},
		{MountID: 4, MountPoint: "/data"},
	}
	for _, c := range []struct {
		id   int
		path string
		want int
	}{
		{0, "/", 1}, {0, "/etc", 1}, {0, "/data", 4}, {0, "/data/x", 4}, {0, "/database", 1},
		{0, "/data/a b", 3}, {0, "/data/a b/c", 3}, {0, "/data/a", 4},
		{2, "/data/x", 2}, {3, "/etc", 3}, {9, "/data", 0},
	} {
		got := 0
		if m := findMount(mounts, c.id, c.path); m != nil {
			got = m.MountID
		}
		if got != c.want {
			t.Errorf("ID %d, path %s: mount %d, want %d", c.id, c.path, got, c.want)
		}
	}
	if m := findMount(nil, 0, "/"); m != nil {
		t.Errorf("no mounts gave %+v", m)
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "/a": "/a", `a\040b`: "a b", `\011\012\134\054`: "\t\n\\,", `\0400`: " 0", `\377`: "\xff",
		`\04`: `\04`, `\`: `\`, `\999`: `\999`, `\400`: `\400`, `\134040`: `\040`,
	} {
		if got := unescape(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// What the kernel escapes comes back as it was.
func FuzzUnescape(f *testing.F) {
	f.Add(`/a\040b`)
	f.Add(`\`)
	f.Add("a b\t\n\\,=")
	f.Fuzz(func(t *testing.T, s string) {
		if got := unescape(s); len(got) > len(s) {
			t.Fatalf("%q became longer: %q", s, got)
		}
		var escaped strings.Builder
		for _, c := range []byte(s) {
			if strings.IndexByte(" \t\n\\,=", c) >= 0 {
				escaped.Write([]byte{'\\', '0' + c>>6, '0' + c>>3&7, '0' + c&7})
			} else {
				escaped.WriteByte(c)
			}
		}
		if got := unescape(escaped.String()); got != s {
			t.Fatalf("%q came back as %q", s, got)
		}
	})
}

// Options are sorted, each once; directories of an overlay say nothing about the file system and stay out.
func TestMountOptions(t *testing.T) {
	m := &procfs.MountInfo{
		Options:      map[string]string{"rw": "", "noatime": ""},
		SuperOptions: map[string]string{"rw": "", "upperdir": "/secret", "size": "64k", "x": `a\040b`, "": ""},
	}
	if got := mountOptions(m); !slices.Equal(got, []string{"noatime", "rw", "size=64k", "x=a b"}) {
		t.Errorf("got %q", got)
	}
}

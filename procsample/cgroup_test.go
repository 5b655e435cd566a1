package procsample

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Version 2: the least limit of the group and of those above it counts, and what is left is least where the limit is.
func TestLimitsV2(t *testing.T) {
	f := newFixture(t, "system.txtar")
	l := f.Limits()
	has(t, "CPU", l.CPUMillicores, 3500)
	has(t, "memory", l.MemoryBytes, 4<<30)
	has(t, "headroom", f.cgroups().memoryHeadroom(), 4<<30-(1000000000-200000000))
	has(t, "available", f.MemoryAvailable(), 4<<30-(1000000000-200000000))

	f.set(t, "sys/fs/cgroup/user.slice/bench.scope/memory.max", "500000000\n")
	f.set(t, "sys/fs/cgroup/user.slice/bench.scope/memory.current", "600000000\n")
	has(t, "memory", f.Limits().MemoryBytes, 500000000)
	has(t, "headroom of a group above its limit", f.cgroups().memoryHeadroom(), 0)
	has(t, "available", f.MemoryAvailable(), 0)

	f.set(t, "sys/fs/cgroup/user.slice/bench.scope/memory.max", "garbage\n")
	f.set(t, "sys/fs/cgroup/user.slice/bench.scope/cpu.max", "1\n")
	lacks(t, "memory", f.Limits().MemoryBytes, `"garbage"`)
	lacks(t, "CPU", f.Limits().CPUMillicores, `"1" in ""`)
	has(t, "available", f.MemoryAvailable(), 6000000*1024)

	f.remove(t, "sys/fs/cgroup/user.slice")
	lacks(t, "memory", f.Limits().MemoryBytes, noLimit)
	lacks(t, "CPU", f.Limits().CPUMillicores, noLimit)
}

// Version 1: a controller's own hierarchy counts, also where version 2 is mounted beside it.
func TestLimitsV1(t *testing.T) {
	f := newFixture(t, "cgroup-v1.txtar")
	l := f.Limits()
	has(t, "CPU", l.CPUMillicores, 1500)
	has(t, "memory", l.MemoryBytes, 1<<30)
	has(t, "available", f.MemoryAvailable(), 1<<30-600000000)

	f.set(t, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
	f.set(t, "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
	lacks(t, "memory", f.Limits().MemoryBytes, noLimit)
	lacks(t, "CPU", f.Limits().CPUMillicores, noLimit)
	has(t, "available", f.MemoryAvailable(), 6000000*1024)
}

func TestLimitsUnreadable(t *testing.T) {
	f := newFixture(t, "cgroup-v1.txtar")
	f.set(t, "proc/7/mountinfo", "41 1 0:31 / /x rw - tmpfs tmpfs rw\n")
	lacks(t, "memory", f.Limits().MemoryBytes, "memory are not mounted")
	lacks(t, "CPU", f.Limits().CPUMillicores, "cpu are not mounted")
	f.set(t, "proc/7/cgroup", "12:pids:/x\n")
	lacks(t, "memory", f.Limits().MemoryBytes, "no control group has the controller memory")
	f.remove(t, "proc/7/cgroup")
	lacks(t, "memory", f.Limits().MemoryBytes, "no such file")
	f.remove(t, "proc/meminfo")
	lacks(t, "available", f.MemoryAvailable(), "meminfo: ")
	f.set(t, "proc/meminfo", "MemTotal: 1 kB\n")
	lacks(t, "available", f.MemoryAvailable(), "no MemAvailable")
}

func TestGroupDirs(t *testing.T) {
	for _, c := range []struct{ group, root, want string }{
		{"/", "/", "/"},
		{"/a/b", "/", "/a/b /a /"},
		{"/docker/x/y", "/docker/x", "/y /"},
		{"/docker/x", "/docker/x", "/"},
		{"/docker/xy", "/docker/x", "/"},
		{"/../..", "/", "/"},
		{"/other", "/docker/x", "/"},
	} {
		if got := groupDirs(c.group, c.root); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("group %s in a mount of %s: %q, want %s", c.group, c.root, got, c.want)
		}
	}
}

// However strange the names, the directories stay inside of the mount and end at its root.
func FuzzGroupDirs(f *testing.F) {
	f.Add("/a/b", "/")
	f.Add("/../..", "/")
	f.Add("", "")
	f.Add("a//b/./", "/a")
	f.Fuzz(func(t *testing.T, group, root string) {
		dirs := groupDirs(group, root)
		for i, dir := range dirs {
			if dir != filepath.Clean(dir) || dir[0] != '/' || (dir == "/") != (i == len(dirs)-1) {
				t.Fatalf("group %q in a mount of %q: %q", group, root, dirs)
			}
		}
		if len(dirs) == 0 {
			t.Fatalf("group %q in a mount of %q has no directories", group, root)
		}
	})
}

func TestParseLimit(t *testing.T) {
	has(t, "0", parseLimit("0"), 0)
	has(t, "1 GiB", parseLimit("1073741824"), 1<<30)
	for _, none := range []string{"max", "9223372036854771712", "9223372036854710272", "18446744073709551615"} {
		lacks(t, none, parseLimit(none), noLimit)
	}
	for _, bad := range []string{"", "-1", "1 ", "x", "18446744073709551616"} {
		lacks(t, bad, parseLimit(bad), "not a number of bytes")
	}
}

func FuzzParseLimit(f *testing.F) {
	for _, seed := range []string{"max", "0", "9223372036854771712", "-1", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if v := parseLimit(text); v.OK() && v.N < 0 || !v.OK() && v.N != 0 {
			t.Fatalf("%q gave %+v", text, v)
		}
	})
}

func TestParseQuota(t *testing.T) {
	has(t, "1.5 cores", parseQuota("150000", "100000"), 1500)
	has(t, "a third of a core", parseQuota("1", "3"), 333)
	lacks(t, "max", parseQuota("max", "100000"), noLimit)
	lacks(t, "-1", parseQuota("-1", "100000"), noLimit)
	for _, bad := range [][2]string{{"", ""}, {"1", "0"}, {"1", "-1"}, {"-2", "1"}, {"9223372036854775807", "1"}, {"1", "1 2"}} {
		lacks(t, bad[0]+" "+bad[1], parseQuota(bad[0], bad[1]), "not a quota in a period")
	}
}

func FuzzParseQuota(f *testing.F) {
	f.Add("150000", "100000")
	f.Add("max", "")
	f.Add("9223372036854775807", "1")
	f.Fuzz(func(t *testing.T, quota, period string) {
		if v := parseQuota(quota, period); v.OK() && v.N < 0 || !v.OK() && v.N != 0 {
			t.Fatalf("%q in %q gave %+v", quota, period, v)
		}
	})
}

func TestStatField(t *testing.T) {
	stat := "inactive_file_x 1\ninactive_file 20\nbroken\ntotal x\nhuge 18446744073709551615"
	has(t, "inactive_file", statField(stat, "inactive_file"), 20)
	lacks(t, "none", statField(stat, "none"), "has no none")
	lacks(t, "broken", statField(stat, "broken"), "not a number")
	lacks(t, "total", statField(stat, "total"), "not a number")
	lacks(t, "huge", statField(stat, "huge"), "out of range")
}

func FuzzStatField(f *testing.F) {
	f.Add("inactive_file 20\n", "inactive_file")
	f.Add("\n \n", "")
	f.Fuzz(func(t *testing.T, stat, name string) {
		if v := statField(stat, name); v.OK() && (v.N < 0 || !strings.Contains(stat, name)) || !v.OK() && v.N != 0 {
			t.Fatalf("%q in %q gave %+v", name, stat, v)
		}
	})
}

func TestLeast(t *testing.T) {
	no := absent("denied")
	has(t, "3 4", least(Value{N: 3}, Value{N: 4}), 3)
	has(t, "4 3", least(Value{N: 4}, Value{N: 3}), 3)
	has(t, "absent 3", least(no, Value{N: 3}), 3)
	has(t, "3 absent", least(Value{N: 3}, no), 3)
	lacks(t, "absent absent", least(no, absent("gone")), "denied")
	has(t, "max", least(Value{N: math.MaxInt64}, no), math.MaxInt64)
}

package procsample

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Limits are what the control groups of this process allow it. The group's own limit counts and that of each group
// above it that can be seen: the least is given.
type Limits struct {
	CPUMillicores Value `json:"cpu_limit_millicores"` // 1,500 is one and a half cores
	MemoryBytes   Value `json:"memory_limit_bytes"`
}

// Limits reads the limits of this process's control groups, version 1 and 2.
func (s *System) Limits() Limits {
	g := s.cgroups()
	return Limits{CPUMillicores: g.cpuLimit(), MemoryBytes: g.memoryLimit()}
}

const noLimit = "no limit"

// hierarchy is where a controller has its files for this process: the directories of its group and of those above.
type hierarchy struct {
	dirs   []string
	v2     bool
	reason string // there is none
}

type cgroups struct{ cpu, memory hierarchy }

func (s *System) cgroups() cgroups {
	fail := func(err error) cgroups {
		h := hierarchy{reason: err.Error()}
		return cgroups{h, h}
	}
	self, err := s.proc.Self()
	if err != nil {
		return fail(err)
	}
	groups, err := self.Cgroups()
	if err != nil {
		return fail(err)
	}
	mounts, err := s.proc.GetMounts()
	if err != nil {
		return fail(err)
	}
	return cgroups{cpu: s.hierarchy("cpu", groups, mounts), memory: s.hierarchy("memory", groups, mounts)}
}

// hierarchy finds a controller's files. A controller that a version 1 hierarchy has is not in version 2's.
func (s *System) hierarchy(controller string, groups []procfs.Cgroup, mounts []*procfs.MountInfo) hierarchy {
	h := hierarchy{}
	i := slices.IndexFunc(groups, func(g procfs.Cgroup) bool { return slices.Contains(g.Controllers, controller) })
	if i < 0 {
		h.v2 = true
		i = slices.IndexFunc(groups, func(g procfs.Cgroup) bool { return g.HierarchyID == 0 })
	}
	if i < 0 {
		h.reason = "no control group has the controller " + controller
		return h
	}
	for _, m := range mounts {
		_, has := m.SuperOptions[controller]
		if h.v2 && m.FSType == "cgroup2" || !h.v2 && m.FSType == "cgroup" && has {
			point := s.path(unescape(m.MountPoint))
			for _, dir := range groupDirs(groups[i].Path, unescape(m.Root)) {
				h.dirs = append(h.dirs, filepath.Join(point, dir))
			}
			return h
		}
	}
	h.reason = "the control groups of the controller " + controller + " are not mounted"
	return h
}

// groupDirs lists a group's directory and those above it, relative to a mount that shows the hierarchy from root down.
// A group that the mount does not show (a container that sees the host's names) is taken to be the mount's root.
func groupDirs(group, root string) []string {
	group = filepath.Clean("/" + group) // also "/../..": outside of the namespace
	if !within(group, root) {
		return []string{"/"}
	}
	dir := filepath.Join("/", strings.TrimPrefix(group, root))
	var dirs []string
	for ; dir != "/"; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return append(dirs, "/")
}

// leastOf gives the least of what read finds at the levels of the hierarchy. A level without the file has no limit.
func (h hierarchy) leastOf(read func(dir string) (Value, error)) Value {
	if h.reason != "" {
		return Value{Reason: h.reason}
	}
	lowest := Value{Reason: noLimit}
	for _, dir := range h.dirs {
		v, err := read(dir)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return unread(err)
		}
		if !v.OK() && v.Reason != noLimit {
			return v
		}
		lowest = least(lowest, v)
	}
	return lowest
}

func (g cgroups) memoryLimit() Value { return g.memory.leastOf(g.memoryLimitAt) }

func (g cgroups) memoryLimitAt(dir string) (Value, error) {
	file := "memory.limit_in_bytes"
	if g.memory.v2 {
		file = "memory.max"
	}
	text, err := readLine(filepath.Join(dir, file))
	if err != nil {
		return Value{}, err
	}
	return parseLimit(text), nil
}

// memoryHeadroom is how much more memory the groups let this process use, bytes. File cache that is not in active use
// would be dropped first, so it counts as free.
func (g cgroups) memoryHeadroom() Value {
	usage, cache := "memory.usage_in_bytes", "total_inactive_file"
	if g.memory.v2 {
		usage, cache = "memory.current", "inactive_file"
	}
	return g.memory.leastOf(func(dir string) (Value, error) {
		limit, err := g.memoryLimitAt(dir)
		if err != nil || !limit.OK() {
			return limit, err
		}
		text, err := readLine(filepath.Join(dir, usage))
		if err != nil {
			return Value{}, err
		}
		used := parseLimit(text)
		if !used.OK() {
			return absent("%s is %q, not a number of bytes", usage, text), nil
		}
		stat, err := os.ReadFile(filepath.Join(dir, "memory.stat"))
		if err != nil {
			return Value{}, err
		}
		if idle := statField(string(stat), cache); idle.OK() {
			used.N -= min(idle.N, used.N)
		}
		return Value{N: max(0, limit.N-used.N)}, nil
	})
}

func (g cgroups) cpuLimit() Value {
	return g.cpu.leastOf(func(dir string) (Value, error) {
		if g.cpu.v2 {
			text, err := readLine(filepath.Join(dir, "cpu.max"))
			if err != nil {
				return Value{}, err
			}
			quota, period, _ := strings.Cut(text, " ")
			return parseQuota(quota, period), nil
		}
		quota, err := readLine(filepath.Join(dir, "cpu.cfs_quota_us"))
		if err != nil {
			return Value{}, err
		}
		period, err := readLine(filepath.Join(dir, "cpu.cfs_period_us"))
		if err != nil {
			return Value{}, err
		}
		return parseQuota(quota, period), nil
	})
}

// parseLimit reads a number of bytes. "max" (version 2) and the greatest number of whole pages (version 1) are no
// limit.
func parseLimit(text string) Value {
	if text == "max" {
		return Value{Reason: noLimit}
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return absent("a memory limit is %q, not a number of bytes", text)
	}
	const largestPage = 1 << 16
	if n > math.MaxInt64-largestPage {
		return Value{Reason: noLimit}
	}
	return Value{N: int64(n)}
}

// parseQuota reads how long a group may run (us) in each period (us), and gives thousandths of a core. "max" (version
// 2) and -1 (version 1) are no limit.
func parseQuota(quota, period string) Value {
	if quota == "max" || quota == "-1" {
		return Value{Reason: noLimit}
	}
	q, errQ := strconv.ParseInt(quota, 10, 64)
	p, errP := strconv.ParseInt(period, 10, 64)
	if errQ != nil || errP != nil || q < 0 || q > math.MaxInt64/1000 || p <= 0 {
		return absent("a CPU limit is %q in %q us, not a quota in a period", quota, period)
	}
	return Value{N: q * 1000 / p}
}

// statField finds a field of a memory.stat: lines of a name and a number.
func statField(stat, name string) Value {
	for line := range strings.Lines(stat) {
		key, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key != name {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return absent("memory.stat: %s is %q, not a number", name, text)
		}
		return measured(n)
	}
	return Value{Reason: fmt.Sprintf("memory.stat has no %s", name)}
}

// least gives the smaller of two figures; one that is not measured gives way to the other.
func least(v, w Value) Value {
	switch {
	case !v.OK() && !w.OK():
		return v
	case !v.OK():
		return w
	case !w.OK():
		return v
	}
	return Value{N: min(v.N, w.N)}
}

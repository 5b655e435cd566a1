package emulate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// limiting is where the limits of a card are set.
type limiting struct {
	Version int    `json:"cgroup_version"` // 1: blkio.throttle.*; 2: io.max; 0: nowhere yet
	Group   string `json:"group"`          // directory of the control group
}

func (l limiting) String() string {
	if l.Version == 1 {
		return "blkio.throttle of the root control group (version 1)"
	}
	return "io.max of a control group of its own (version 2)"
}

// controller is the block-I/O controller of this machine.
type controller struct {
	version int
	root    string // directory of the topmost group that can be seen
	own     string // of this process's group
}

// thisController finds the block-I/O controller, or says why there is none.
func thisController() (controller, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return controller{}, err
	}
	self, err := fs.Self()
	if err != nil {
		return controller{}, err
	}
	groups, err := self.Cgroups()
	if err != nil {
		return controller{}, err
	}
	mounts, err := fs.GetMounts()
	if err != nil {
		return controller{}, err
	}
	return findController(groups, mounts)
}

// findController finds the controller among the control groups of a process and the mounts. A controller that a
// hierarchy of version 1 has is not in version 2's.
func findController(groups []procfs.Cgroup, mounts []*procfs.MountInfo) (controller, error) {
	c := controller{version: 1}
	i := slices.IndexFunc(groups, func(g procfs.Cgroup) bool { return slices.Contains(g.Controllers, "blkio") })
	if i < 0 {
		c.version = 2
		i = slices.IndexFunc(groups, func(g procfs.Cgroup) bool { return g.HierarchyID == 0 })
	}
	if i < 0 {
		return c, errors.New("the kernel has no block-I/O controller (blkio or io)")
	}
	for _, m := range mounts {
		_, blkio := m.SuperOptions["blkio"]
		if c.version == 1 && !(m.FSType == "cgroup" && blkio) || c.version == 2 && m.FSType != "cgroup2" {
			continue
		}
		c.root, c.own = m.MountPoint, m.MountPoint
		// A mount may show the hierarchy from a group down, and a group that it does not show is another namespace's.
		if below, err := filepath.Rel(m.Root, groups[i].Path); err == nil && below != ".." && !strings.HasPrefix(below, "../") {
			c.own = filepath.Join(m.MountPoint, below)
		}
		return c, nil
	}
	return c, fmt.Errorf("the control groups (version %d) of the block-I/O controller are not mounted", c.version)
}

// set limits the device with this number (major:minor). The name is that of a group that is made if one is needed.
func (c controller) set(number string, limits Limits, name string) (limiting, error) {
	l := limiting{Version: c.version, Group: c.root}
	if c.version == 2 {
		l.Group = filepath.Join(c.root, name)
	}
	err := l.set(number, limits)
	if err != nil {
		err = errors.Join(fmt.Errorf("the block-I/O controller takes no limits: %w", err), l.clear(number, limits))
	}
	return l, err
}

func (l limiting) set(number string, limits Limits) error {
	if l.Version == 2 {
		// The memory controller beside it makes the kernel charge what it writes back to the group whose pages they were.
		if err := put(filepath.Join(filepath.Dir(l.Group), "cgroup.subtree_control"), "+io +memory"); err != nil {
			return err
		}
		if err := os.Mkdir(l.Group, 0o755); err != nil {
			return err
		}
	}
	return l.limit(number, limits)
}

// limit gives the device its limits, where there is a place for them.
func (l limiting) limit(number string, limits Limits) error {
	if l.Version == 2 {
		return put(filepath.Join(l.Group, "io.max"), fmt.Sprintf("%s rbps=%d wbps=%d riops=%d wiops=%d", number,
			limits.ReadBytesPerS, limits.WriteBytesPerS, limits.ReadsPerS, limits.WritesPerS))
	}
	for file, limit := range limits.files() {
		path := filepath.Join(l.Group, file)
		if err := put(path, fmt.Sprintf("%s %d", number, limit)); err != nil {
			return err
		}
		if has, err := throttle(path, number); err != nil || has != limit {
			return errors.Join(fmt.Errorf("%s: %s has the limit %d after it was given %d", path, number, has, limit), err)
		}
	}
	return nil
}

// files gives the limits by the files of version 1.
func (l Limits) files() map[string]int64 {
	return map[string]int64{
		"blkio.throttle.write_bps_device": l.WriteBytesPerS, "blkio.throttle.read_bps_device": l.ReadBytesPerS,
		"blkio.throttle.write_iops_device": l.WritesPerS, "blkio.throttle.read_iops_device": l.ReadsPerS,
	}
}

// lift takes the limits away until limit gives them again.
func (l limiting) lift(number string, limits Limits) error {
	if l.Version == 2 {
		return put(filepath.Join(l.Group, "io.max"), number+" rbps=max wbps=max riops=max wiops=max")
	}
	return l.clear(number, limits)
}

// clear takes limits away that set has set, and no others: what it does not find is done already.
func (l limiting) clear(number string, limits Limits) error {
	switch l.Version {
	case 1:
		var errs []error
		for file, limit := range limits.files() {
			path := filepath.Join(l.Group, file)
			has, err := throttle(path, number)
			if err == nil && has == limit {
				err = put(path, number+" 0")
			}
			errs = append(errs, err)
		}
		return errors.Join(errs...)
	case 2:
		// The limits go with the group, and a group goes when nothing is in it.
		pids, err := os.ReadFile(filepath.Join(l.Group, "cgroup.procs"))
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		for _, pid := range strings.Fields(string(pids)) {
			if err := put(filepath.Join(filepath.Dir(l.Group), "cgroup.procs"), pid); err != nil && !gone(err) {
				return err
			}
		}
		return errors.Join(err, os.Remove(l.Group))
	}
	return nil
}

// throttle reads the limit of a device from a file of version 1; 0: it has none.
func throttle(path, number string) (int64, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if device, limit, ok := strings.Cut(strings.TrimSpace(line), " "); ok && device == number {
			return strconv.ParseInt(limit, 10, 64)
		}
	}
	return 0, nil
}

// join moves this process to where the limits hold for it, and returns what moves it back.
func (c controller) join(l limiting) (leave func() error, err error) {
	if l.Group == c.own {
		return func() error { return nil }, nil
	}
	if l.Version == 2 && strings.HasPrefix(filepath.Base(c.own), dirPrefix) {
		return nil, errors.New("with control groups of version 2 a program can have one emulated card at a time")
	}
	pid := strconv.Itoa(os.Getpid())
	if err := put(filepath.Join(l.Group, "cgroup.procs"), pid); err != nil {
		return nil, fmt.Errorf("the limits hold only in the control group %s: %w", l.Group, err)
	}
	return func() error { return put(filepath.Join(c.own, "cgroup.procs"), pid) }, nil
}

// joinJournal moves the thread of a file system's journal to where the limits are. Version 1 has it there already.
func (l limiting) joinJournal(loop string) error {
	if l.Version != 2 {
		return nil
	}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return err
	}
	processes, err := fs.AllProcs()
	if err != nil {
		return err
	}
	for _, p := range processes {
		// jbd2/loop0-8: the kernel's name for the journal in inode 8 of the file system on loop0.
		if name, err := p.Comm(); err == nil && name == "jbd2/"+loop+"-8" {
			return put(filepath.Join(l.Group, "cgroup.procs"), strconv.Itoa(p.PID))
		}
	}
	return fmt.Errorf("the journal of the file system on %s has no thread that can be seen", loop)
}

// put writes a control file, which is there already.
func put(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

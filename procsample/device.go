package procsample

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// Device is the file system that holds a directory, and the block devices beneath it. On a Raspberry Pi, say: ext4 on
// mmcblk0p2, a partition of mmcblk0.
type Device struct {
	FSType string `json:"fs_type"` // as in mountinfo: ext4, tmpfs, overlay, ...; empty: see Reason
	// UpperFSType is the file system that an overlay writes to.
	UpperFSType  string   `json:"upper_fs_type,omitempty"`
	MountOptions []string `json:"mount_options,omitempty"` // of the mount and the file system, sorted, without paths

	// On names the block devices that the file system lies on, as in /proc/diskstats: one, or several under btrfs.
	// Their bytes and writes are the file system's. Empty: there is none, and Reason says why.
	On     []string `json:"on,omitempty"`
	Reason string   `json:"reason,omitempty"`

	// FlushesOf names the devices whose flush counts are the file system's, each once: a partition has none, so its
	// whole disk stands for it, and a dm or md device's are those beneath.
	FlushesOf []string `json:"flushes_of,omitempty"`

	// Disks names the whole disks at the bottom, each once, also beneath the file that a loop device shows.
	// DisksReason says why they are not all known.
	Disks       []string `json:"disks,omitempty"`
	DisksReason string   `json:"disks_reason,omitempty"`

	// Blocks describes all of these devices and those between them, from the top down.
	Blocks []Block `json:"blocks,omitempty"`
}

// Block is one block device.
type Block struct {
	Name       string   `json:"name"`            // as in /proc/diskstats
	Kind       string   `json:"kind"`            // disk, partition, dm, md, loop; or stack: another made of some
	Under      []string `json:"under,omitempty"` // a partition's disk, or what a dm, md or stack is made of
	SizeBytes  Value    `json:"size_bytes"`
	Model      string   `json:"model,omitempty"`       // empty: see Reasons["model"]
	Rotational *bool    `json:"rotational,omitempty"`  // nil: see Reasons["rotational"]; virtual disks often say true
	WriteCache string   `json:"write_cache,omitempty"` // write back or write through; empty: see Reasons["write_cache"]
	Scheduler  string   `json:"scheduler,omitempty"`   // the one in use; empty: see Reasons["scheduler"]
	// Reasons says why a fact is missing, by its key. "counters" and "flushes" say why the kernel does not count.
	Reasons map[string]string `json:"reasons,omitempty"`
}

// Name is the name of the block device that the file system lies on, several joined by "+", or "none".
func (d Device) Name() string {
	if len(d.On) == 0 {
		return "none"
	}
	return strings.Join(d.On, "+")
}

// InMemory says whether files there are in memory and nowhere else.
func (d Device) InMemory() bool { return inMemory(d.FSType) || inMemory(d.UpperFSType) }

// Shares says whether d and e have a whole disk in common, so that their figures must not be added.
func (d Device) Shares(e Device) bool {
	both := func(a, b []string) bool {
		return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
	}
	return both(d.Disks, e.Disks) || both(d.On, e.On)
}

func inMemory(fsType string) bool {
	return fsType == "tmpfs" || fsType == "ramfs" || fsType == "devtmpfs"
}

// DeviceOf finds the device behind the directory (or file) dir, which must exist. What cannot be found out is in the
// result's reasons.
func (s *System) DeviceOf(dir string) Device { return s.deviceOf(dir, nil) }

// deviceOf resolves dir. through holds the mounts of the overlays and loop files that led here.
func (s *System) deviceOf(dir string, through []int) Device {
	m, err := s.mountOf(dir)
	if err != nil {
		return Device{Reason: err.Error()}
	}
	d := Device{FSType: m.FSType, MountOptions: mountOptions(m)}
	if slices.Contains(through, m.MountID) {
		d.Reason = fmt.Sprintf("%s leads back to itself", m.FSType)
		return d
	}
	through = append(slices.Clone(through), m.MountID)

	var tops []string
	switch {
	case !strings.HasPrefix(m.MajorMinorVer, "0:"):
		var top string
		top, err = s.blockDir("sys/dev/block", m.MajorMinorVer)
		tops = []string{top}
	case m.FSType == "btrfs":
		tops, err = s.btrfsDirs(unescape(m.Source))
	case m.FSType == "overlay":
		return s.overlayDevice(d, m, through)
	case inMemory(m.FSType):
		err = fmt.Errorf("%s is memory: there is no block device", m.FSType)
	default:
		err = fmt.Errorf("%s does not tell its block device", m.FSType)
	}
	if err != nil {
		d.Reason = err.Error()
		return d
	}
	for _, top := range tops {
		d.On = append(d.On, blockName(top))
		for _, name := range s.descend(&d, top, through) {
			d.FlushesOf = addOnce(d.FlushesOf, name)
		}
	}
	return d
}

// overlayDevice completes an overlay: what is written goes to its upper directory.
func (s *System) overlayDevice(d Device, m *procfs.MountInfo, through []int) Device {
	upper := unescape(m.SuperOptions["upperdir"])
	if upper == "" {
		d.Reason = "the overlay has no upper directory: it is read-only"
		return d
	}
	under := s.deviceOf(upper, through)
	if under.FSType == "" {
		// A container sees the overlay but not the host's directories that it is made of.
		d.Reason = "the overlay's upper directory is not visible from here; use a directory on a mounted volume"
		return d
	}
	if under.UpperFSType == "" {
		under.UpperFSType = under.FSType
	}
	under.FSType, under.MountOptions = d.FSType, d.MountOptions
	return under
}

// btrfsDirs gives the /sys directories of all devices of the btrfs that was mounted from source; its device number in
// mountinfo is not that of a block device.
func (s *System) btrfsDirs(source string) ([]string, error) {
	path, err := filepath.EvalSymlinks(s.path(source)) // /dev/mapper/NAME is a link to /dev/dm-N
	if err != nil {
		path = source // a container has no /dev/sda2, but /sys shows sda2
	}
	top, err := s.blockDir("sys/class/block", filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("btrfs was mounted from a device that is not visible from here: %w", err)
	}
	members, err := filepath.Glob(s.path("sys/fs/btrfs/*/devices", filepath.Base(top)))
	if err != nil || len(members) == 0 {
		return []string{top}, nil
	}
	entries, err := os.ReadDir(filepath.Dir(members[0]))
	if err != nil {
		return nil, err
	}
	var tops []string
	for _, e := range entries {
		top, err := s.blockDir("sys/class/block", e.Name())
		if err != nil {
			return nil, err
		}
		tops = append(tops, top)
	}
	return tops, nil
}

// blockDir resolves a link to a block device's directory in /sys.
func (s *System) blockDir(elem ...string) (string, error) {
	return filepath.EvalSymlinks(s.path(elem...))
}

// blockName is the kernel's name of a device; in /sys a slash is written as an exclamation mark (cciss!c0d0).
func blockName(dir string) string { return strings.ReplaceAll(filepath.Base(dir), "!", "/") }

// descend adds the block device in the /sys directory dir and all beneath it to d, each once, and gives those that
// count its flushes.
func (s *System) descend(d *Device, dir string, through []int) (flushesOf []string) {
	b := s.readBlock(dir)
	index := slices.IndexFunc(d.Blocks, func(c Block) bool { return c.Name == b.Name })
	known := index >= 0
	if !known {
		index = len(d.Blocks)
		d.Blocks = append(d.Blocks, b)
	}
	var under []string // directories
	switch b.Kind {
	case "disk":
		d.Disks = addOnce(d.Disks, b.Name)
		return []string{b.Name}
	case "loop":
		if !known {
			s.descendFile(d, dir, through)
		}
		return []string{b.Name}
	case "partition":
		under = []string{filepath.Dir(dir)}
	default:
		var err error
		if under, err = slaveDirs(dir); err == nil && len(under) == 0 {
			err = fmt.Errorf("%s does not tell what it is made of", b.Name)
		}
		if err != nil {
			// Part of the flushes would be less than none: the device itself stands for them, with the reason.
			d.DisksReason = err.Error()
			d.Blocks[index].missing("flushes", err.Error())
			return []string{b.Name}
		}
	}
	for _, below := range under {
		if !known {
			d.Blocks[index].Under = append(d.Blocks[index].Under, blockName(below))
		}
		for _, name := range s.descend(d, below, through) {
			flushesOf = addOnce(flushesOf, name)
		}
	}
	return flushesOf
}

// descendFile adds to d what is beneath the file that a loop device shows.
func (s *System) descendFile(d *Device, dir string, through []int) {
	file, err := readLine(filepath.Join(dir, "loop", "backing_file"))
	if err != nil {
		d.DisksReason = err.Error()
		return
	}
	under := s.deviceOf(file, through)
	switch {
	case under.FSType == "":
		d.DisksReason = fmt.Sprintf("the file behind %s is not visible from here", blockName(dir))
	case under.Reason != "":
		d.DisksReason = fmt.Sprintf("the file behind %s: %s", blockName(dir), under.Reason)
	case under.DisksReason != "":
		d.DisksReason = under.DisksReason
	}
	for _, name := range under.Disks {
		d.Disks = addOnce(d.Disks, name)
	}
	for _, b := range under.Blocks {
		if !slices.ContainsFunc(d.Blocks, func(c Block) bool { return c.Name == b.Name }) {
			d.Blocks = append(d.Blocks, b)
		}
	}
}

// readBlock reads the facts of the block device in the /sys directory dir.
func (s *System) readBlock(dir string) Block {
	b := Block{Name: blockName(dir), Kind: blockKind(dir), SizeBytes: blockSize(dir)}
	queue := filepath.Join(dir, "queue")
	if b.Kind == "partition" {
		queue = filepath.Join(filepath.Dir(dir), "queue")
	}
	if on, err := readLine(filepath.Join(queue, "iostats")); err == nil && on == "0" {
		b.missing("counters", fmt.Sprintf("statistics of %s are off (queue/iostats)", b.Name))
	}
	if b.Kind == "partition" {
		return b // the rest is its disk's
	}

	var err error
	if b.Model, err = blockModel(dir); err != nil {
		b.missing("model", err.Error())
	}
	if b.WriteCache, err = readLine(filepath.Join(queue, "write_cache")); err != nil {
		b.missing("write_cache", err.Error())
	}
	if list, err := readLine(filepath.Join(queue, "scheduler")); err != nil {
		b.missing("scheduler", err.Error())
	} else if b.Scheduler = chosen(list); b.Scheduler == "" {
		b.missing("scheduler", fmt.Sprintf("none is chosen in %q", list))
	}
	switch text, err := readLine(filepath.Join(queue, "rotational")); {
	case err != nil:
		b.missing("rotational", err.Error())
	case text != "0" && text != "1":
		b.missing("rotational", fmt.Sprintf("rotational is %q", text))
	default:
		rotational := text == "1"
		b.Rotational = &rotational
	}
	// Only a driver with a request queue has its flushes counted (blk_account_io_flush in the kernel's block/blk-flush.c).
	if _, err := os.Stat(filepath.Join(dir, "mq")); err != nil && (b.Kind == "disk" || b.Kind == "loop") {
		b.missing("flushes", fmt.Sprintf("%s has no request queue, so the kernel does not count its flushes", b.Name))
	}
	return b
}

// missing notes why a fact is not there.
func (b *Block) missing(fact, reason string) {
	if b.Reasons == nil {
		b.Reasons = map[string]string{}
	}
	b.Reasons[fact] = reason
}

func blockKind(dir string) string {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	switch {
	case has("partition"):
		return "partition"
	case has("dm"):
		return "dm"
	case has("md"):
		return "md"
	case has("loop"):
		return "loop"
	}
	if dirs, err := slaveDirs(dir); err != nil || len(dirs) > 0 {
		return "stack"
	}
	return "disk"
}

// slaveDirs gives the /sys directories of the devices that the one in dir is made of, in the order of their names,
// none if it is not made of others.
func slaveDirs(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, "slaves"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		below, err := filepath.EvalSymlinks(filepath.Join(dir, "slaves", e.Name()))
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, below)
	}
	return dirs, nil
}

func blockSize(dir string) Value {
	text, err := readLine(filepath.Join(dir, "size"))
	if err != nil {
		return unread(err)
	}
	return parseSectors(text)
}

// blockModel is what the maker calls the disk: SCSI, ATA and NVMe have device/model, an SD card device/name.
func blockModel(dir string) (string, error) {
	for _, name := range []string{"device/model", "device/name"} {
		text, err := readLine(filepath.Join(dir, name))
		if err == nil && text != "" {
			return text, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return "", fmt.Errorf("%s does not tell a model", blockName(dir))
}

// chosen picks the bracketed word of a list such as "none [mq-deadline] kyber", or the only word.
func chosen(list string) string {
	words := strings.Fields(list)
	for _, w := range words {
		if len(w) > 2 && w[0] == '[' && w[len(w)-1] == ']' {
			return w[1 : len(w)-1]
		}
	}
	if len(words) == 1 && !strings.ContainsAny(words[0], "[]") {
		return words[0]
	}
	return ""
}

func addOnce(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"tpccbench/emulate"
	"tpccbench/record"
)

// Device is a directory in which a named device of a plan is measured.
type Device struct {
	Name string // ram, sd, ...
	Kind string // record.KindMemory or record.KindDisk
	Dir  string // or emulate:PROFILE, emulate:PROFILE@DIR: see package emulate
}

// DefaultKind is the kind of a device that no plan describes: "ram" is memory, any other is a disk.
func DefaultKind(name string) string {
	if name == "ram" {
		return record.KindMemory
	}
	return record.KindDisk
}

// DefaultDir is where a device is when nobody said: memory in /dev/shm, a disk in the current directory.
func DefaultDir(kind string) string {
	if kind == record.KindMemory {
		return "/dev/shm"
	}
	return "."
}

// ParseDevices reads NAME=DIR arguments, where DIR may be an emulated card.
func ParseDevices(args []string) (map[string]string, error) {
	dirs := map[string]string{}
	for _, a := range args {
		name, dir, ok := strings.Cut(a, "=")
		if !ok || name == "" || dir == "" {
			return nil, fmt.Errorf("--device %s: it must be NAME=DIR, for example ram=/dev/shm", a)
		}
		if _, twice := dirs[name]; twice {
			return nil, fmt.Errorf("--device %s: device %s is given twice", a, name)
		}
		if emulate.Is(dir) {
			if _, err := emulate.Parse(dir); err != nil {
				return nil, fmt.Errorf("--device %s: %w", a, err)
			}
		}
		dirs[name] = dir
	}
	return dirs, nil
}

// Check makes sure that the directory is there, can be written and is on the kind of file system that the device's
// kind means, and that need bytes are free on it.
func (d *Device) Check(need int64) error {
	info, err := os.Stat(d.Dir)
	if err != nil {
		return fmt.Errorf("device %s: %w; give another with --device %s=DIR", d.Name, err, d.Name)
	}
	if !info.IsDir() {
		return fmt.Errorf("device %s: %s is not a directory", d.Name, d.Dir)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(d.Dir, &fs); err != nil {
		return fmt.Errorf("device %s: %s: %w", d.Name, d.Dir, err)
	}
	memory := fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC
	switch {
	case d.Kind == record.KindMemory && !memory:
		return fmt.Errorf("device %s: %s is not on a memory file system (tmpfs); give one with --device %s=DIR", d.Name, d.Dir, d.Name)
	case d.Kind == record.KindDisk && memory:
		return fmt.Errorf("device %s: %s is on a memory file system (tmpfs), not on a disk; give another with --device %s=DIR",
			d.Name, d.Dir, d.Name)
	}
	if free := int64(fs.Bavail) * fs.Bsize; free < need {
		return fmt.Errorf("device %s: %s has %s free, and %s (%d bytes) are needed", d.Name, d.Dir, sizeText(free), sizeText(need), need)
	}
	probe, err := os.CreateTemp(d.Dir, ".tpccbench-probe-*")
	if err != nil {
		return fmt.Errorf("device %s: cannot write: %w", d.Name, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// sizeText renders bytes in MiB or GiB.
func sizeText(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
}

// abs makes the directory absolute, for a child that is started elsewhere.
func (d *Device) abs() (Device, error) {
	dir, err := filepath.Abs(d.Dir)
	return Device{d.Name, d.Kind, dir}, err
}

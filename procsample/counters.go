package procsample

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
)

// Counters are what a device has done since the system started, whoever asked for it.
type Counters struct {
	WriteBytes Value // sectors written, of 512 bytes whatever the device says
	Writes     Value // write requests completed
	// Flushes counts the flush requests that a device completed (Linux 5.5). One that has no volatile write cache gets
	// none: its count rightly stays where it is.
	Flushes Value
}

// Sub gives how far the counters went since before.
func (c Counters) Sub(before Counters) Counters {
	return Counters{
		WriteBytes: c.WriteBytes.Sub(before.WriteBytes),
		Writes:     c.Writes.Sub(before.Writes),
		Flushes:    c.Flushes.Sub(before.Flushes),
	}
}

// Counters reads the counters of d: bytes and writes of the devices that its file system lies on, flushes of those
// that count them. Each device counts once.
func (s *System) Counters(d Device) Counters { return s.disks().of(d) }

// diskTable is one reading of /proc/diskstats.
type diskTable struct {
	disks []blockdevice.Diskstats
	err   error
}

func (s *System) disks() diskTable {
	disks, err := s.block.ProcDiskstats()
	if err != nil {
		err = fmt.Errorf("diskstats: %w", err)
	}
	return diskTable{disks, err}
}

func (t diskTable) of(d Device) Counters {
	if len(d.On) == 0 {
		none := Value{Reason: "no block device: " + d.Reason}
		return Counters{none, none, none}
	}
	return Counters{
		WriteBytes: t.sum(d, d.On, "", func(s *blockdevice.Diskstats) Value {
			return measuredTimes(s.WriteSectors, procfs.SectorSize)
		}),
		Writes: t.sum(d, d.On, "", func(s *blockdevice.Diskstats) Value { return measured(s.WriteIOs) }),
		Flushes: t.sum(d, d.FlushesOf, "flushes", func(s *blockdevice.Diskstats) Value {
			if s.IoStatsCount < 20 {
				return absent("diskstats of this kernel has no flushes (Linux 5.5 has)")
			}
			return measured(s.FlushRequestsCompleted)
		}),
	}
}

// sum adds a counter over the named devices. extra is the key in Block.Reasons that forbids it, beside "counters".
func (t diskTable) sum(d Device, names []string, extra string, counter func(*blockdevice.Diskstats) Value) Value {
	if t.err != nil {
		return unread(t.err)
	}
	if len(names) == 0 {
		return absent("no device under %s counts them", d.Name())
	}
	var total Value
	for _, name := range names {
		if reason := d.uncounted(name, extra); reason != "" {
			return Value{Reason: reason}
		}
		i := slices.IndexFunc(t.disks, func(s blockdevice.Diskstats) bool { return s.DeviceName == name })
		if i < 0 {
			return absent("diskstats has no %s", name)
		}
		total = total.add(counter(&t.disks[i]))
	}
	return total
}

// uncounted says why the kernel does not count for a device, or nothing.
func (d Device) uncounted(name, extra string) string {
	for _, b := range d.Blocks {
		if b.Name != name {
			continue
		}
		if reason := b.Reasons["counters"]; reason != "" {
			return reason
		}
		return b.Reasons[extra]
	}
	return ""
}

// parseSectors reads the size of a block device as /sys has it, in sectors, and gives bytes.
func parseSectors(text string) Value {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return absent("size is %q, not a number of sectors", text)
	}
	return measuredTimes(n, procfs.SectorSize)
}

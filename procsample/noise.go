package procsample

import (
	"fmt"
	"math"
)

// Pressure is how long some task of the whole machine has waited for a resource since the system started, us. It goes
// up by the time that at least one task waited: by at most 1,000,000 per second.
type Pressure struct{ CPU, IO, Memory Value }

// Pressure reads the "some" totals of /proc/pressure (Linux 4.20, if it is switched on).
func (s *System) Pressure() Pressure {
	read := func(resource string) Value {
		stats, err := s.proc.PSIStatsForResource(resource)
		switch {
		case err != nil:
			return unread(err)
		case stats.Some == nil:
			return absent("pressure/%s has no some line", resource)
		}
		return measured(stats.Some.Total)
	}
	return Pressure{CPU: read("cpu"), IO: read("io"), Memory: read("memory")}
}

// Cores is what the cores of the whole machine have done since the system started.
type Cores struct {
	StealNS  Value // time that the hypervisor took; stays 0 on some virtual machines
	TotalNS  Value // time of all cores, idle time among it
	Switches Value // context switches of all processes
}

// Cores reads /proc/stat. Times have steps of 10 ms.
func (s *System) Cores() Cores {
	stat, err := s.proc.Stat()
	if err != nil {
		err = fmt.Errorf("stat: %w", err)
		return Cores{unread(err), unread(err), unread(err)}
	}
	switches := measured(stat.ContextSwitches)
	if switches.N == 0 && switches.OK() {
		switches = absent("stat has no context switches")
	}
	t := stat.CPUTotal // user and nice include guest times
	total := t.User + t.Nice + t.System + t.Idle + t.Iowait + t.IRQ + t.SoftIRQ + t.Steal
	if total == 0 {
		none := absent("stat has no times of the cores")
		return Cores{none, none, switches}
	}
	return Cores{StealNS: seconds(t.Steal), TotalNS: seconds(total), Switches: switches}
}

// seconds gives f s as ns.
func seconds(f float64) Value {
	ns := math.Round(f * 1e9)
	if !(ns >= 0 && ns < math.MaxInt64) {
		return absent("a time of %g s is out of range", f)
	}
	return Value{N: int64(ns)}
}

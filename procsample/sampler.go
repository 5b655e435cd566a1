package procsample

import (
	"errors"
	"os"
	"time"
)

// Config says what a Sampler looks at.
type Config struct {
	PID      int    // the process; 0: the one that calls
	OwnerTID int    // the thread that applies an engine's writes; 0: there is none
	DataDir  string // the directory of the data
	TempDir  string // the directory that temporary files spill to: TempDir()
}

// Sampler reads all figures of a run at one time. The devices are found when it is made. Its methods may be called by
// several goroutines at once, except ResetPeak.
type Sampler struct {
	Data, Temp Device // of the two directories; see Device.Shares before adding them up

	sys      *System
	process  Process
	ownerTID int
	peak     error // why the peak is not the run's
}

// NewSampler makes a sampler. It cannot fail: what cannot be read is absent from the samples, with its reason.
func (s *System) NewSampler(c Config) *Sampler {
	if c.PID == 0 {
		c.PID = os.Getpid()
	}
	device := func(dir, name string) Device {
		if dir == "" {
			return Device{Reason: "no " + name + " directory was given"}
		}
		return s.DeviceOf(dir)
	}
	return &Sampler{
		Data:     device(c.DataDir, "data"),
		Temp:     device(c.TempDir, "temporary"),
		sys:      s,
		process:  s.Process(c.PID),
		ownerTID: c.OwnerTID,
		peak:     errors.New("peak memory was not reset: it would be that of the process's whole life"),
	}
}

// ResetPeak starts the peak memory anew: call it after loading, before the first Take. Without it, or if it fails, the
// samples have no peak.
func (s *Sampler) ResetPeak() error {
	s.peak = s.process.ResetPeak()
	return s.peak
}

// Sample is one reading. Counters run since the process, thread or system began; only their differences say something:
// see Sub.
type Sample struct {
	At time.Time // with a monotonic reading

	CPU      Value // of the process, ns
	OwnerCPU Value // of the owner's thread, ns
	Memory   Memory
	IO       IO
	GC       GC

	VoluntarySwitches, ForcedSwitches Value // context switches of the process

	Data, Temp Counters // of the devices
	Pressure   Pressure
	Cores      Cores
}

// Take reads everything. It takes some 0.3 ms and allocates some 64 KiB on a machine with a few disks.
func (s *Sampler) Take() Sample {
	// First what others cause, last what the reading itself adds to, so that a run's first sample does not charge it.
	var t Sample
	t.Pressure = s.sys.Pressure()
	t.Cores = s.sys.Cores()
	disks := s.sys.disks()
	t.Data, t.Temp = disks.of(s.Data), disks.of(s.Temp)
	t.Memory = s.process.Memory()
	if s.peak != nil {
		t.Memory.Peak = unread(s.peak)
	}
	t.IO = s.process.IO()
	if s.ownerTID == 0 {
		t.OwnerCPU = absent("the engine has no owner thread")
	} else {
		t.OwnerCPU = s.process.ThreadCPU(s.ownerTID)
	}
	t.GC = s.process.GC()
	t.VoluntarySwitches, t.ForcedSwitches = s.process.ContextSwitches()
	t.CPU = s.process.CPU()
	t.At = time.Now()
	return t
}

// Delta is what happened between two samples.
type Delta struct {
	WallNS     int64 `json:"wall_ns"`
	CPUNS      Value `json:"cpu_ns"`       // of the process
	OwnerCPUNS Value `json:"owner_cpu_ns"` // of the owner's thread
	GCCPUNS    Value `json:"gc_cpu_ns"`    // of the process's garbage collector; see GC
	GCCycles   Value `json:"gc_cycles"`

	ResidentBytes     Value `json:"resident_bytes"`      // at the end
	PeakResidentBytes Value `json:"peak_resident_bytes"` // from ResetPeak to the end

	WriteBytes          Value `json:"write_bytes"` // see IO
	CancelledWriteBytes Value `json:"cancelled_write_bytes"`

	// The device of the data, then that of temporary files, whoever wrote: see Counters. They may be the same one.
	DeviceBytes       Value `json:"device_bytes"`
	DeviceWrites      Value `json:"device_writes"`
	DeviceFlushes     Value `json:"device_flushes"`
	TempDeviceBytes   Value `json:"temp_device_bytes"`
	TempDeviceWrites  Value `json:"temp_device_writes"`
	TempDeviceFlushes Value `json:"temp_device_flushes"`

	VoluntarySwitches Value `json:"voluntary_switches"` // context switches of the process
	ForcedSwitches    Value `json:"forced_switches"`
	SystemSwitches    Value `json:"system_switches"` // of all processes

	// Time in which some task of the machine waited, us; as a share of wall_ns: PSIShare.
	PSICPUUS    Value `json:"psi_cpu_us"`
	PSIIOUS     Value `json:"psi_io_us"`
	PSIMemoryUS Value `json:"psi_memory_us"`
	StealShare  Share `json:"steal_share"` // of the time of all cores, 0..1
}

// Sub gives what happened since before, an earlier sample of the same Sampler.
func (t Sample) Sub(before Sample) Delta {
	data, temp := t.Data.Sub(before.Data), t.Temp.Sub(before.Temp)
	return Delta{
		WallNS:     t.At.Sub(before.At).Nanoseconds(),
		CPUNS:      t.CPU.Sub(before.CPU),
		OwnerCPUNS: t.OwnerCPU.Sub(before.OwnerCPU),
		GCCPUNS:    t.GC.CPUNS.Sub(before.GC.CPUNS),
		GCCycles:   t.GC.Cycles.Sub(before.GC.Cycles),

		ResidentBytes:     t.Memory.Resident,
		PeakResidentBytes: t.Memory.Peak,

		WriteBytes:          t.IO.Write.Sub(before.IO.Write),
		CancelledWriteBytes: t.IO.Cancelled.Sub(before.IO.Cancelled),

		DeviceBytes:       data.WriteBytes,
		DeviceWrites:      data.Writes,
		DeviceFlushes:     data.Flushes,
		TempDeviceBytes:   temp.WriteBytes,
		TempDeviceWrites:  temp.Writes,
		TempDeviceFlushes: temp.Flushes,

		VoluntarySwitches: t.VoluntarySwitches.Sub(before.VoluntarySwitches),
		ForcedSwitches:    t.ForcedSwitches.Sub(before.ForcedSwitches),
		SystemSwitches:    t.Cores.Switches.Sub(before.Cores.Switches),

		PSICPUUS:    t.Pressure.CPU.Sub(before.Pressure.CPU),
		PSIIOUS:     t.Pressure.IO.Sub(before.Pressure.IO),
		PSIMemoryUS: t.Pressure.Memory.Sub(before.Pressure.Memory),
		StealShare:  t.Cores.StealNS.Sub(before.Cores.StealNS).Over(t.Cores.TotalNS.Sub(before.Cores.TotalNS)),
	}
}

// OwnerShare is the part of one core that the owner's thread used, 0..1.
func (d Delta) OwnerShare() Share { return d.OwnerCPUNS.Over(Value{N: d.WallNS}) }

// GCShare is the part of the process's CPU time that its garbage collector used, 0..1. A collection counts when it has
// ended.
func (d Delta) GCShare() Share { return d.GCCPUNS.Over(d.CPUNS) }

// PSIShare is a pressure figure of d (us) as a part of the wall time, 0..1.
func (d Delta) PSIShare(us Value) Share {
	share := us.Over(Value{N: d.WallNS})
	share.F *= 1000
	return share
}

package procsample

import (
	"fmt"
	"os"
	"strconv"
)

// Process is one process, looked at from outside or from inside.
type Process struct {
	sys *System
	pid int
}

// Self is the process that calls.
func (s *System) Self() Process { return Process{s, os.Getpid()} }

// Process is another one. One that does not exist has no figures.
func (s *System) Process(pid int) Process { return Process{s, pid} }

// CPU is the user and system time of all threads since the process began, ns, those that have ended among them.
func (p Process) CPU() Value {
	ns, err := p.sys.cpuClock(p.pid)
	if err != nil {
		return unread(err)
	}
	return Value{N: ns}
}

// ThreadCPU is the time that one thread has run, ns. While the thread runs, the figure lags by up to one scheduler tick
// (1 to 10 ms).
func (p Process) ThreadCPU(tid int) Value {
	proc, err := p.sys.proc.Thread(p.pid, tid)
	if err != nil {
		return unread(err)
	}
	stat, err := proc.Schedstat()
	if err != nil {
		return absent("schedstat of thread %d: %v", tid, err)
	}
	if stat.RunningNanoseconds == 0 && stat.RunTimeslices == 0 {
		// The kernel writes "0 0 0" when it does not keep these figures.
		return absent("schedstat of thread %d is empty: the kernel does not account it", tid)
	}
	return measured(stat.RunningNanoseconds)
}

// Memory is what of a process is in memory, bytes.
type Memory struct {
	Resident Value // now
	Peak     Value // the most since the process began, or since ResetPeak
}

// Memory reads the resident memory and its peak.
func (p Process) Memory() Memory {
	proc, err := p.sys.proc.Proc(p.pid)
	if err != nil {
		return Memory{unread(err), unread(err)}
	}
	status, err := proc.NewStatus()
	if err != nil {
		err = fmt.Errorf("status of process %d: %w", p.pid, err)
		return Memory{unread(err), unread(err)}
	}
	return Memory{Resident: p.positive("VmRSS", status.VmRSS), Peak: p.positive("VmHWM", status.VmHWM)}
}

// positive refuses the 0 that procfs gives for a line that is not there.
func (p Process) positive(key string, n uint64) Value {
	if n == 0 {
		return absent("status of process %d has no %s", p.pid, key)
	}
	return measured(n)
}

// ResetPeak makes Memory.Peak start again from what is resident now. Some containers deny it; the peak is then still
// that of the whole life of the process and must not be reported as the run's.
func (p Process) ResetPeak() error {
	f, err := os.OpenFile(p.sys.path("proc", strconv.Itoa(p.pid), "clear_refs"), os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("peak memory cannot be reset: %w", err)
	}
	_, err = f.WriteString("5") // CLEAR_REFS_MM_HIWATER_RSS
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err != nil {
		return fmt.Errorf("peak memory cannot be reset: %w", err)
	}
	return nil
}

// IO is what a process has caused to be written, bytes, threads that have ended among it.
type IO struct {
	// Write counts pages when they are dirtied: later losses (truncated before they were written) are in Cancelled,
	// and the file system's journal is in neither.
	Write     Value
	Cancelled Value
}

// IO reads /proc/PID/io.
func (p Process) IO() IO {
	proc, err := p.sys.proc.Proc(p.pid)
	if err != nil {
		return IO{unread(err), unread(err)}
	}
	io, err := proc.IO()
	if err != nil {
		err = fmt.Errorf("io of process %d: %w", p.pid, err)
		return IO{unread(err), unread(err)}
	}
	return IO{Write: measured(io.WriteBytes), Cancelled: Value{N: io.CancelledWriteBytes}}
}

// ContextSwitches counts those of all threads: voluntary (it waited) and forced (another took the core). Only the
// calling process's own are known.
func (p Process) ContextSwitches() (voluntary, forced Value) {
	v, f, err := p.sys.switches(p.pid)
	if err != nil {
		return unread(err), unread(err)
	}
	return Value{N: v}, Value{N: f}
}

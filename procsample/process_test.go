package procsample

import (
	"os"
	"testing"
)

func TestProcessFiles(t *testing.T) {
	f := newFixture(t, "system.txtar")
	p := f.Process(4242)
	m := p.Memory()
	has(t, "resident", m.Resident, 200000*1024)
	has(t, "peak", m.Peak, 400000*1024)
	io := p.IO()
	has(t, "write_bytes", io.Write, 4096000)
	has(t, "cancelled_write_bytes", io.Cancelled, 8192)
	has(t, "thread", p.ThreadCPU(4250), 5e9)

	mustDo(t, p.ResetPeak())
	written, err := os.ReadFile(f.path("proc/4242/clear_refs"))
	mustDo(t, err)
	if string(written) != "5\n" && string(written) != "5" {
		t.Errorf("wrote %q to clear_refs, want 5", written)
	}
}

// Whatever is denied, gone, empty or not as it should be is a reason that names the file, never 0.
func TestProcessUnreadable(t *testing.T) {
	f := newFixture(t, "system.txtar")
	p := f.Process(4242)
	lacks(t, "thread that is not accounted", p.ThreadCPU(4251), "does not account it")
	lacks(t, "thread that is gone", p.ThreadCPU(9), "task/9/schedstat: no such file")
	f.set(t, "proc/4242/task/4250/schedstat", "what\n")
	lacks(t, "thread with a strange file", p.ThreadCPU(4250), "schedstat of thread 4250")

	f.set(t, "proc/4242/io", "rchar: 11\nwchar: 12\nsyscr: 13\nsyscw: 14\n") // no CONFIG_TASK_IO_ACCOUNTING
	lacks(t, "write_bytes", p.IO().Write, "io of process 4242")
	lacks(t, "cancelled_write_bytes", p.IO().Cancelled, "io of process 4242")
	f.remove(t, "proc/4242/io")
	lacks(t, "write_bytes", p.IO().Write, "no such file")

	f.set(t, "proc/4242/status", "Name:\tx\nVmRSS:\t  10 kB\n")
	has(t, "resident", p.Memory().Resident, 10240)
	lacks(t, "peak", p.Memory().Peak, "no VmHWM")
	f.remove(t, "proc/4242/status")
	lacks(t, "resident", p.Memory().Resident, "status of process 4242")
	lacks(t, "peak", p.Memory().Peak, "status of process 4242")

	f.remove(t, "proc/4242/clear_refs")
	if err := p.ResetPeak(); err == nil {
		t.Error("a peak was reset without clear_refs")
	}
	if _, err := os.Stat(f.path("proc/4242/clear_refs")); err == nil {
		t.Error("ResetPeak made a file")
	}

	gone := f.Process(77)
	lacks(t, "resident", gone.Memory().Resident, "proc/77")
	lacks(t, "write_bytes", gone.IO().Write, "proc/77")
	lacks(t, "thread", gone.ThreadCPU(1), "proc/77")
	lacks(t, "CPU", gone.CPU(), "no CPU clock")
	v, forced := gone.ContextSwitches()
	lacks(t, "voluntary", v, "no context switches")
	lacks(t, "forced", forced, "no context switches")
}

package procsample

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// These tests ask the system that they run on. What it does not give must have a reason; then the test is skipped.

func linux(t testing.TB) *System {
	t.Helper()
	s, err := Linux()
	if err != nil {
		t.Skip(err)
	}
	return s
}

func measuredOrSkip(t *testing.T, what string, v Value) int64 {
	t.Helper()
	if !v.OK() {
		t.Skipf("%s is not measured here: %s", what, v.Reason)
	}
	return v.N
}

// Work on a locked thread shows up in the thread's CPU and in the process's.
func TestLinuxCPU(t *testing.T) {
	s := linux(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, tid := s.Self(), unix.Gettid()
	Calibrate()
	process, thread := p.CPU(), p.ThreadCPU(tid)
	measuredOrSkip(t, "process", process)
	measuredOrSkip(t, "thread", thread)
	if process.N <= 0 || thread.N <= 0 {
		t.Fatalf("process %d ns, thread %d ns after work", process.N, thread.N)
	}
	for range 5 {
		Calibrate()
	}
	if d := p.CPU().Sub(process); !d.OK() || d.N <= 0 {
		t.Errorf("five calibrations used %v ns of the process", d)
	}
	if d := p.ThreadCPU(tid).Sub(thread); !d.OK() || d.N <= 0 {
		t.Errorf("five calibrations used %v ns of the thread", d)
	}
	v, forced := p.ContextSwitches()
	if !v.OK() || !forced.OK() {
		t.Errorf("context switches: %v, %v", v, forced)
	}
}

// Another process is measured from outside; one that is gone has no figures.
func TestLinuxOtherProcess(t *testing.T) {
	s := linux(t)
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	p := s.Process(cmd.Process.Pid)
	cpu, resident := p.CPU(), p.Memory().Resident
	v, _ := p.ContextSwitches()
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	cmd.Wait() // its error is that it was killed
	if !cpu.OK() || !resident.OK() {
		t.Errorf("CPU %v, resident %v", cpu, resident)
	}
	lacks(t, "another's context switches", v, "only a process's own")
	if p.CPU().OK() || p.Memory().Resident.OK() {
		t.Errorf("after its end: CPU %v, resident %v", p.CPU(), p.Memory().Resident)
	}
}

// A reset takes the peak down to what is resident; memory that is touched later raises it.
func TestLinuxPeak(t *testing.T) {
	s := linux(t)
	p := s.Self()
	m := p.Memory()
	measuredOrSkip(t, "resident", m.Resident)
	if m.Peak.N < m.Resident.N {
		t.Errorf("peak %v is below resident %v", m.Peak, m.Resident)
	}
	const size = 64 << 20
	touch := func() {
		data, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		mustDo(t, err)
		for i := 0; i < size; i += 4096 {
			data[i] = 1
		}
		mustDo(t, unix.Munmap(data))
	}
	touch()
	high := p.Memory().Peak
	if err := p.ResetPeak(); err != nil {
		t.Skip(err)
	}
	low := p.Memory().Peak
	touch()
	again := p.Memory().Peak
	if high.N-low.N < size/2 || again.N-low.N < size/2 {
		t.Errorf("peak with 64 MiB %v, after the reset %v, with 64 MiB again %v", high, low, again)
	}
}

// A synced file shows up in write_bytes and on its device, where there is one.
func TestLinuxWrites(t *testing.T) {
	s := linux(t)
	dir := t.TempDir()
	sampler := s.NewSampler(Config{DataDir: dir, TempDir: dir})
	before := sampler.Take()
	f, err := os.Create(filepath.Join(dir, "file"))
	mustDo(t, err)
	const size = 1 << 20
	data := make([]byte, size) // that no file system can compress
	rand.NewChaCha8([32]byte{}).Read(data)
	_, err = f.Write(data)
	mustDo(t, err)
	mustDo(t, f.Sync())
	mustDo(t, f.Close())
	d := sampler.Take().Sub(before)
	if sampler.Data.InMemory() {
		t.Skipf("the temporary directory is on %s", sampler.Data.FSType)
	}
	if measuredOrSkip(t, "write_bytes", d.WriteBytes) < size {
		t.Errorf("write_bytes %v after 1 MiB", d.WriteBytes)
	}
	if measuredOrSkip(t, "device", d.DeviceBytes) < size {
		t.Errorf("device bytes %v after 1 MiB", d.DeviceBytes)
	}
	if d.DeviceWrites.N <= 0 || d.TempDeviceBytes != d.DeviceBytes {
		t.Errorf("device writes %v, bytes of the same device as temporary one %v", d.DeviceWrites, d.TempDeviceBytes)
	}
}

// Every mount has a device or a reason, and its counters a figure or a reason.
func TestLinuxMounts(t *testing.T) {
	s := linux(t)
	mounts, err := s.proc.GetMounts()
	if err != nil {
		t.Skip(err)
	}
	for _, m := range mounts {
		point := unescape(m.MountPoint)
		d := s.DeviceOf(point)
		if (d.Name() == "none") != (d.Reason != "") {
			t.Errorf("%s: device %s, reason %q", point, d.Name(), d.Reason)
		}
		if c := s.Counters(d); d.Name() == "none" && (c.WriteBytes.OK() || c.Writes.OK() || c.Flushes.OK()) {
			t.Errorf("%s has no device, but counters %+v", point, c)
		}
	}
}

// The kernel's mount ID and the search by path agree, also through a symbolic link.
func TestLinuxMountWithoutID(t *testing.T) {
	s := linux(t)
	link := filepath.Join(t.TempDir(), "link")
	mustDo(t, os.Symlink("/proc", link))
	byID, err := s.mountOf(link)
	if err != nil {
		t.Skip(err)
	}
	s.mountID = func(string) (int, error) { return 0, errNoMountID }
	byPath, err := s.mountOf(link)
	mustDo(t, err)
	if byID.FSType != "proc" || byPath.FSType != "proc" || byID.MountID != byPath.MountID {
		t.Errorf("%s: mount %d (%s) by its ID, %d (%s) by path", link, byID.MountID, byID.FSType, byPath.MountID, byPath.FSType)
	}
}

func TestLinuxMachine(t *testing.T) {
	s := linux(t)
	m := s.Machine()
	data, err := json.Marshal(m)
	mustDo(t, err)
	t.Logf("%s", data)
	if measuredOrSkip(t, "memory", m.MemoryBytes) <= 0 || m.MemoryAvailableBytes.OK() && m.MemoryAvailableBytes.N > m.MemoryBytes.N {
		t.Errorf("%v of %v bytes are available", m.MemoryAvailableBytes, m.MemoryBytes)
	}
	if m.CPUModel == "" && m.Reasons["cpu_model"] == "" {
		t.Error("neither a CPU model nor a reason")
	}
}

func BenchmarkTake(b *testing.B) {
	s := linux(b).NewSampler(Config{DataDir: b.TempDir(), TempDir: b.TempDir()})
	b.ReportAllocs()
	for b.Loop() {
		s.Take()
	}
}

func BenchmarkSeriesPoint(b *testing.B) {
	s := linux(b).NewSampler(Config{DataDir: b.TempDir()})
	b.ReportAllocs()
	for b.Loop() {
		s.read(func() []Value { return nil })
	}
}

// A system without /proc or /sys cannot be measured, and says so at once.
func TestNewSystemWithoutProc(t *testing.T) {
	root := t.TempDir()
	if _, err := newSystem(root); err == nil {
		t.Error("no error without /proc")
	}
	mustDo(t, os.Mkdir(filepath.Join(root, "proc"), 0o755))
	if _, err := newSystem(root); err == nil {
		t.Error("no error without /sys")
	}
}

package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// short is a probe that is long enough to have all its figures.
var short = Options{Seconds: 0.2}

func leftIn(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("%s is left", e.Name())
	}
}

// check proves what holds for a result whatever the device.
func check(t *testing.T, r *Result) {
	t.Helper()
	if r.Format != Format || r.Version != Version || r.Started.IsZero() || r.Seconds <= 0 || r.Storage.FSType == "" || !r.FreeBytes.OK() {
		t.Errorf("incomplete: %+v", r)
	}
	if r.Write.Bytes < chunkBytes || r.Write.BytesPerS <= 0 || r.Write.Seconds <= 0 {
		t.Errorf("the sequential write is %+v", r.Write)
	}
	if len(r.Syncs) != 2*len(BlockBytes) {
		t.Errorf("%d kinds of sync; want %d", len(r.Syncs), 2*len(BlockBytes))
	}
	fastest := r.FastestSync()
	for _, file := range []string{Preallocated, Growing} {
		for _, size := range BlockBytes {
			s := r.Sync(file, size)
			if s == nil {
				t.Errorf("%s, %d B was not measured", file, size)
				continue
			}
			if s.Syncs < minSyncs || s.SyncsPerS <= 0 || s.SyncsPerS > fastest.SyncsPerS {
				t.Errorf("%s, %d B: %d syncs, %v/s; the fastest of all is %v/s", file, size, s.Syncs, s.SyncsPerS, fastest.SyncsPerS)
			}
			if !(0 < s.LatencyNSP50 && s.LatencyNSP50 <= s.LatencyNSP90 && s.LatencyNSP90 <= s.LatencyNSP99 && s.LatencyNSP99 <= s.LatencyNSMax) {
				t.Errorf("%s, %d B: percentiles %+v do not rise", file, size, s)
			}
		}
	}
	if r.Sync(Growing, 513) != nil {
		t.Error("a size that was not measured has figures")
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Result
	if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(&back, r) {
		t.Errorf("JSON gives back %+v, %v; want %+v", back, err, r)
	}
}

// A probe measures everything, tells its progress and leaves nothing.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	steps := map[string]bool{}
	o := short
	o.Seconds = 1
	o.Progress = func(p Progress) {
		steps[p.Step] = true
		if p.LeftSeconds < 0 || p.LeftSeconds > o.Seconds {
			t.Errorf("%v s are left of %v", p.LeftSeconds, o.Seconds)
		}
	}
	r, err := Run(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	check(t, r)
	leftIn(t, dir)
	if !steps["sequential write"] {
		t.Errorf("steps %v; want the sequential write among them", steps)
	}
	if r.Emulation != nil {
		t.Errorf("taken for an emulated card: %v", r.Emulation)
	}
	if len(r.Storage.On) == 0 {
		t.Skip("the temporary directory is on no block device: ", r.Storage.Reason)
	}
	// Each block that is made durable is written: at least its own sectors arrive at the device.
	for _, s := range r.Syncs {
		if want := float64(s.BlockBytes / 512); s.DeviceSectorsPerSync.OK() && s.DeviceSectorsPerSync.F < want {
			t.Errorf("%s, %d B: %v sectors per sync; want at least %v", s.File, s.BlockBytes, s.DeviceSectorsPerSync.F, want)
		}
	}
}

// In memory there is no device, and no figure of one.
func TestRunInMemory(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "tpccbench-test-")
	if err != nil {
		t.Skipf("no memory file system: %v", err)
	}
	defer os.RemoveAll(dir)
	r, err := Run(t.Context(), dir, short)
	if err != nil {
		t.Fatal(err)
	}
	check(t, r)
	leftIn(t, dir)
	for _, s := range r.Syncs {
		for _, v := range []interface{ OK() bool }{s.DeviceFlushesPerSync, s.DeviceWritesPerSync, s.DeviceSectorsPerSync} {
			if v.OK() {
				t.Errorf("%s, %d B: measured %v", s.File, s.BlockBytes, v)
			}
		}
		if !strings.Contains(s.DeviceFlushesPerSync.Reason, "memory") {
			t.Errorf("the reason is %q", s.DeviceFlushesPerSync.Reason)
		}
	}
}

// A probe that is cancelled ends with the context's error and leaves nothing.
func TestRunCancelled(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := Options{Seconds: 600, Progress: func(p Progress) { cancel() }}
	if r, err := Run(ctx, dir, o); !errors.Is(err, context.Canceled) || r != nil {
		t.Errorf("%v, %v", r, err)
	}
	leftIn(t, dir)
}

// A file system with little room is probed within it, and one without room is an error that says so.
func TestRunSmall(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", minFreeBytes+(4<<20))); err != nil {
		t.Skipf("a small file system cannot be mounted: %v", err)
	}
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	r, err := Run(t.Context(), dir, short)
	if err != nil {
		t.Fatal(err)
	}
	check(t, r)
	leftIn(t, dir)
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 8<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), dir, short); err == nil || !strings.Contains(err.Error(), dir+" is full") {
		t.Errorf("error %v", err)
	}
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filler); !errors.Is(err, unix.EROFS) {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), dir, short); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("error %v", err)
	}
}

// What is no directory to write to is an error that says what to do.
func TestRunErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "none: no such directory",
		file:                       "file is not a directory",
	} {
		if _, err := Run(t.Context(), path, short); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want one with %q", path, err, want)
		}
	}
	for errno, want := range map[syscall.Errno]string{
		unix.ENOSPC: "make room", unix.EDQUOT: "make room", unix.EROFS: "read-only", unix.EACCES: "no permission", unix.EIO: "probe: write /x",
	} {
		if err := explain("/x", &os.PathError{Op: "write", Path: "/x", Err: errno}); !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v; want one with %q", errno, err, want)
		}
	}
}

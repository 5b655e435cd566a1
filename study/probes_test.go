package study

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"tpccbench/emulate"
	"tpccbench/matrix"
	"tpccbench/probe"
	"tpccbench/record"
)

func probing(t *testing.T) (s *Study, log *bytes.Buffer) {
	log = new(bytes.Buffer)
	plan := &matrix.Plan{Name: "p", Devices: []matrix.Device{{Name: "used", Kind: record.KindDisk, Seconds: 1}, {Name: "unused", Seconds: 1}}}
	return &Study{
		o:        Options{Out: t.TempDir(), Quick: true, Log: log},
		plan:     plan,
		devices:  map[string]Device{"used": {Name: "used", Kind: record.KindDisk, Dir: t.TempDir()}},
		progress: NewProgress(nil, 0),
	}, log
}

// Before the first measurement each device in use is probed, once: a study that goes on has the probe of its beginning.
func TestProbesOnce(t *testing.T) {
	s, log := probing(t)
	if err := s.probes(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := ReadProbe(s.o.Out, "used")
	if err != nil || r.Write.BytesPerS <= 0 || len(r.Syncs) != 2*len(probe.BlockBytes) || r.Emulation != nil {
		t.Fatalf("probe %+v, %v", r, err)
	}
	if !strings.Contains(log.String(), "probe-used") {
		t.Errorf("the log is %q; want a line of probe-used", log)
	}
	if _, err := ReadProbe(s.o.Out, "unused"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a device that no run uses was probed: %v", err)
	}
	before, err := os.ReadFile(ProbePath(s.o.Out, "used"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.probes(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(ProbePath(s.o.Out, "used")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the probe was made again: %v", err)
	}
}

// A study does not go on with a card that is another than at its beginning, nor with a probe that cannot be read.
func TestProbesOfAnotherDevice(t *testing.T) {
	s, _ := probing(t)
	write := func(r *probe.Result) {
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(ProbePath(s.o.Out, "used"), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		was  probe.Result
		want string
	}{
		{probe.Result{Format: probe.Format, Version: probe.Version, Emulation: &emulate.Facts{Profile: "slow"}}, "device used was an emulated SD card, profile slow"},
		{probe.Result{Format: probe.Format, Version: 99}, "version 99"},
		{probe.Result{Format: probe.Format, Version: probe.Version}, ""},
	} {
		write(&c.was)
		err := s.probes(t.Context())
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("error %v; want one with %q", err, c.want)
		}
	}
	if err := os.WriteFile(ProbePath(s.o.Out, "used"), []byte(`{"format":`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := s.probes(t.Context()); err == nil || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("error %v; want one that says that the probe is cut short", err)
	}
}

// A study that is interrupted in its probe says so, and has none: it is made when the study goes on.
func TestProbesInterrupted(t *testing.T) {
	s, _ := probing(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.probes(ctx); !errors.Is(err, ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	if _, err := ReadProbe(s.o.Out, "used"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("half a probe was kept: %v", err)
	}
}

// What cannot be a card is refused before anything is made.
func TestAttachErrors(t *testing.T) {
	for _, c := range []struct {
		dev  Device
		want string
	}{
		{Device{"ram", record.KindMemory, "emulate:slow"}, "device ram: it is memory"},
		{Device{"sd", record.KindDisk, "emulate:floppy"}, `device sd: "emulate:floppy": there is no profile "floppy"`},
		{Device{"sd", record.KindDisk, t.TempDir() + "/none"}, "no such file or directory"},
	} {
		_, detach, err := c.dev.attach(0)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v; want one with %q", c.dev, err, c.want)
		}
		if err := detach(); err != nil {
			t.Errorf("%v: nothing was attached: %v", c.dev, err)
		}
	}
}

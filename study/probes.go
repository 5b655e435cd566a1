package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tpccbench/emulate"
	"tpccbench/probe"
)

// ProbePath is the file of a study's folder that holds what a device could do before the first measurement: a
// probe.Result in JSON.
func ProbePath(out, device string) string { return filepath.Join(out, "probe-"+device+".json") }

// ReadProbe reads the probe of a device from a study's folder; fs.ErrNotExist: there is none.
func ReadProbe(out, device string) (*probe.Result, error) {
	path := ProbePath(out, device)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(probe.Result)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: not a probe, or cut short: %w", path, err)
	}
	if r.Format != probe.Format || r.Version != probe.Version {
		return nil, fmt.Errorf("%s: format %q version %d; this program reads %q version %d", path, r.Format, r.Version, probe.Format, probe.Version)
	}
	return r, nil
}

// detach lets go of the devices.
func (s *Study) detach() error {
	var errs []error
	for _, detach := range s.detaches {
		errs = append(errs, detach())
	}
	s.detaches = nil
	return errors.Join(errs...)
}

// probes measures what each device can do, before the study's first measurement. A device whose probe is there is not
// probed again, but it must still be an emulation of the same card, or none.
func (s *Study) probes(ctx context.Context) error {
	for i := range s.plan.Devices {
		dev, used := s.devices[s.plan.Devices[i].Name]
		if !used {
			continue
		}
		now := emulate.Of(dev.Dir)
		if now != nil {
			s.logf("device %s is %s", dev.Name, now)
		}
		old, err := ReadProbe(s.o.Out, dev.Name)
		if err == nil {
			if was := old.Emulation; emulated(was) != emulated(now) {
				return fmt.Errorf("device %s was %s when the study began, and is %s now: that is another study, give another --out",
					dev.Name, emulated(was), emulated(now))
			}
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := s.probe(ctx, dev, s.plan.Devices[i].Seconds); err != nil {
			return s.stopped(err, "the probe of device "+dev.Name)
		}
	}
	return nil
}

// emulated is the label of a device that is emulated, or says that it is none.
func emulated(f *emulate.Facts) string {
	if f == nil {
		return "no emulation"
	}
	return f.String()
}

// probe takes as long as a run on the device does, but no longer than probe.DefaultSeconds.
func (s *Study) probe(ctx context.Context, dev Device, runSeconds float64) error {
	o := probe.Options{Seconds: min(max(runSeconds, probe.QuickSeconds), probe.DefaultSeconds)}
	if s.o.Quick {
		o.Seconds = probe.QuickSeconds
	}
	s.progress.Begin("probe-"+dev.Name, o.Seconds)
	o.Progress = func(p probe.Progress) { s.progress.Live(Live{Step: p.Step}) }
	r, err := probe.Run(ctx, dev.Dir, o)
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	if err != nil {
		return err
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := writeFile(ProbePath(s.o.Out, dev.Name), append(b, '\n')); err != nil {
		return err
	}
	block := r.Sync(probe.Preallocated, 4096)
	s.logf("%-42s ok  %9.1f MB/s written  4 KiB + fdatasync p99 %.3f ms, %.0f/s", "probe-"+dev.Name, r.Write.BytesPerS/1e6,
		float64(block.LatencyNSP99)/1e6, block.SyncsPerS)
	return nil
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tpccbench/emulate"
	"tpccbench/probe"
	"tpccbench/procsample"
	"tpccbench/record"
	"tpccbench/study"
)

const (
	minProbeSeconds = 0.1
	maxProbeSeconds = 3600
)

func newProbeCommand() *cobra.Command {
	var device string
	var seconds float64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "probe DIR",
		Short: "Measure what the device behind a directory can do at most",
		Long: `Measures the limits of the device behind a directory: how fast large writes go on, and how long it takes until a block of
512 B, 4, 16 and 64 KiB is durable (write + fdatasync, one after the other), in a file whose blocks are there and were
written before and in one that grows. Beside it, what stands behind the directory, and the flushes, write requests and
sectors (512 B) that the whole device took per fdatasync, whoever asked for them.

Instead of DIR, emulate:PROFILE probes an emulated SD card (root, Linux); tpccbench emulate lists the profiles. The
files of the probe have no names, so nothing is left however it ends. A study stores a probe of each device as
probe-DEVICE.json before its first measurement.`,
		Example: `  tpccbench probe /mnt/card
  tpccbench probe /var/tmp --seconds 30 --json
  tpccbench probe emulate:slow`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dev, err := probeDevice(args, device)
			if err != nil {
				return err
			}
			if !(seconds >= minProbeSeconds && seconds <= maxProbeSeconds) {
				return fmt.Errorf("--seconds is %v; it must be %v..%v", seconds, minProbeSeconds, maxProbeSeconds)
			}
			return runProbe(cmd, dev, seconds, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&device, "device", "", "instead of DIR, as the other commands take it: ram, sd, NAME=DIR or NAME=emulate:PROFILE")
	f.Float64Var(&seconds, "seconds", probe.DefaultSeconds, "about how long; a very slow device takes longer")
	f.BoolVar(&asJSON, "json", false, "print one JSON object, as in a study's probe-DEVICE.json")
	return cmd
}

// probeDevice is what is to be probed: the argument, or the device of the flag.
func probeDevice(args []string, flag string) (study.Device, error) {
	switch {
	case len(args) == 1 && flag != "":
		return study.Device{}, errors.New("probe: DIR and --device exclude each other")
	case flag != "":
		return deviceFlag(flag)
	case len(args) == 0:
		return study.Device{}, errors.New("probe: the directory is missing; see tpccbench probe --help")
	}
	if emulate.Is(args[0]) {
		if _, err := emulate.Parse(args[0]); err != nil {
			return study.Device{}, err
		}
	}
	return study.Device{Name: "card", Kind: record.KindDisk, Dir: args[0]}, nil
}

func runProbe(cmd *cobra.Command, dev study.Device, seconds float64, asJSON bool) error {
	// A directory is probed whatever is behind it; a card must be made first.
	onDevice := func(f func(study.Device) error) error { return f(dev) }
	if emulate.Is(dev.Dir) {
		onDevice = func(f func(study.Device) error) error { return study.OnDevice(dev, 0, f) }
	}
	place := dev.Dir
	var res *probe.Result
	err := onDevice(func(dev study.Device) (err error) {
		if cmd.Context().Err() != nil {
			return study.ErrInterrupted // while the card was made
		}
		p := study.NewProgress(terminal(), seconds)
		p.Begin("probe", seconds)
		defer p.Clear()
		res, err = probe.Run(cmd.Context(), dev.Dir, probe.Options{
			Seconds:  seconds,
			Progress: func(now probe.Progress) { p.Live(study.Live{Step: now.Step}) },
		})
		if cmd.Context().Err() != nil {
			return study.ErrInterrupted
		}
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		b, err := json.MarshalIndent(res, "", " ")
		if err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(append(b, '\n'))
		return err
	}
	writeProbe(cmd.OutOrStdout(), place, res)
	return nil
}

func writeProbe(w io.Writer, place string, r *probe.Result) {
	d := &r.Storage
	fmt.Fprintf(w, "%s: %s on %s (%s)\n", place, d.FSType, d.Name(), strings.Join(d.MountOptions, ","))
	if r.Emulation != nil {
		fmt.Fprintf(w, "EMULATION: this is %s; by %s\n", r.Emulation, r.Emulation.How)
	}
	for _, reason := range []string{d.Reason, d.DisksReason} {
		if reason != "" {
			fmt.Fprintf(w, "  %s\n", reason)
		}
	}
	for i := range d.Blocks {
		fmt.Fprintf(w, "  %s\n", blockText(&d.Blocks[i]))
	}
	fmt.Fprintf(w, "  free: %s of %s\n\n", megabytes(r.FreeBytes), megabytes(r.SizeBytes))
	fmt.Fprintf(w, "sequential write: %.1f MB/s (%.1f MB in %.2f s, fdatasync included)\n\n", r.Write.BytesPerS/1e6,
		float64(r.Write.Bytes)/1e6, r.Write.Seconds)

	fmt.Fprintf(w, "%-24s %9s %9s %9s %9s %9s %9s %9s %9s\n", "write + fdatasync", "", "p50", "p90", "p99", "max", "flushes", "writes", "sectors")
	fmt.Fprintf(w, "%-24s %9s %9s %9s %9s %9s %9s %9s %9s\n", "block, file", "syncs/s", "us", "us", "us", "us", "per sync", "per sync", "per sync")
	var reasons []string
	for i := range r.Syncs {
		s := &r.Syncs[i]
		fmt.Fprintf(w, "%5d B, %-15s %9.0f %9.1f %9.1f %9.1f %9.1f", s.BlockBytes, s.File, s.SyncsPerS, float64(s.LatencyNSP50)/1e3,
			float64(s.LatencyNSP90)/1e3, float64(s.LatencyNSP99)/1e3, float64(s.LatencyNSMax)/1e3)
		for _, v := range []procsample.Share{s.DeviceFlushesPerSync, s.DeviceWritesPerSync, s.DeviceSectorsPerSync} {
			if v.OK() {
				fmt.Fprintf(w, " %9.2f", v.F)
				continue
			}
			fmt.Fprintf(w, " %9s", "-")
			if i == 0 && (len(reasons) == 0 || reasons[len(reasons)-1] != v.Reason) {
				reasons = append(reasons, v.Reason)
			}
		}
		fmt.Fprintln(w)
	}
	for _, reason := range reasons {
		fmt.Fprintf(w, "-: not measured: %s\n", reason)
	}
}

// blockText describes a block device in a line.
func blockText(b *procsample.Block) string {
	parts := []string{b.Name + ": " + b.Kind, megabytes(b.SizeBytes)}
	if b.Model != "" {
		parts = append(parts, b.Model)
	}
	if b.Rotational != nil {
		parts = append(parts, map[bool]string{true: "rotational", false: "not rotational"}[*b.Rotational])
	}
	if b.WriteCache != "" {
		parts = append(parts, "write cache: "+b.WriteCache)
	}
	if b.Scheduler != "" {
		parts = append(parts, "scheduler: "+b.Scheduler)
	}
	if len(b.Under) > 0 {
		parts = append(parts, "of "+strings.Join(b.Under, ", "))
	}
	return strings.Join(parts, "; ")
}

// megabytes renders a number of bytes in MB, or why it is not known.
func megabytes(v procsample.Value) string {
	if !v.OK() {
		return v.String()
	}
	return fmt.Sprintf("%.0f MB", float64(v.N)/1e6)
}

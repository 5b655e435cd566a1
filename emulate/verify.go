package emulate

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"tpccbench/procsample"
)

const (
	verifyTime = time.Second
	// tolerance is what a rate over verifyTime may be above its limit: the controller counts in slices, and lets what was
	// not used of one go at once.
	tolerance = 1.3
)

// verify measures whether the limits bite on small synced writes, which take the journal with them, and on large ones.
func verify(d *Device) error {
	f, err := os.CreateTemp(d.Dir, ".verify-*")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	sys, err := procsample.Linux()
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{'c', 'a', 'r', 'd'}).Read(block)
	storage := sys.DeviceOf(d.Dir)

	writes, err := rate(sys, storage, func(c procsample.Counters) procsample.Value { return c.Writes }, func() error {
		for start := time.Now(); time.Since(start) < verifyTime; {
			if _, err := f.Write(block[:512]); err != nil {
				return err
			}
			if err := unix.Fdatasync(int(f.Fd())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if limit := float64(d.Facts.Limits.WritesPerS); writes > tolerance*limit {
		return fmt.Errorf("%w: the limits do not bite: %.0f writes/s were possible, %.0f is the limit", ErrCannot, writes, limit)
	}
	bytes, err := rate(sys, storage, func(c procsample.Counters) procsample.Value { return c.WriteBytes }, func() error {
		for left := d.Facts.Limits.WriteBytesPerS; left > 0; left -= int64(len(block)) {
			if _, err := f.Write(block); err != nil {
				return err
			}
		}
		return unix.Fdatasync(int(f.Fd()))
	})
	if err != nil {
		return err
	}
	if limit := float64(d.Facts.Limits.WriteBytesPerS); bytes > tolerance*limit {
		return fmt.Errorf("%w: the limits do not bite: %.1f MB/s were written, %.1f is the limit", ErrCannot, bytes/1e6, limit/1e6)
	}
	return nil
}

// rate gives how far a counter of the device goes in a second while f runs.
func rate(sys *procsample.System, d procsample.Device, counter func(procsample.Counters) procsample.Value, f func() error) (float64, error) {
	before, start := sys.Counters(d), time.Now()
	if err := f(); err != nil {
		return 0, err
	}
	took := time.Since(start)
	v := counter(sys.Counters(d).Sub(before))
	if !v.OK() {
		return 0, errors.New("it cannot be shown that the limits bite: " + v.Reason)
	}
	return float64(v.N) / took.Seconds(), nil
}

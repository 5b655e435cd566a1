package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/sys/unix"

	"tpccbench/emulate"
	"tpccbench/procsample"
)

// BlockBytes lists the sizes of the blocks that are made durable one by one.
var BlockBytes = []int{512, 4 << 10, 16 << 10, 64 << 10}

// DefaultSeconds is about how long a probe takes, QuickSeconds how long a short one that shows the order of magnitude.
const (
	DefaultSeconds = 10.0
	QuickSeconds   = 1.5
)

const (
	writeShare   = 0.3      // of the time goes to the sequential write, the rest to the blocks
	chunkBytes   = 1 << 20  // of the sequential write
	maxFileBytes = 1 << 30  // no file of the probe grows beyond
	minFreeBytes = 16 << 20 // less room is no room for a probe
	minSyncs     = 3        // are measured of each kind, however slow
	progressStep = time.Second / 4
)

// Options say how to probe.
type Options struct {
	Seconds  float64        // about how long; 0: DefaultSeconds. A very slow device takes longer
	Progress func(Progress) // called a few times a second, or nil
}

// Progress is how far a probe is.
type Progress struct {
	Step        string  // what is measured now
	LeftSeconds float64 // until the end, an estimate
}

// Run probes the device behind the directory. It returns ctx's error when ctx is cancelled, and an error that says what
// to do if the directory is not there, cannot be written to or is full.
func Run(ctx context.Context, dir string, o Options) (*Result, error) {
	if o.Seconds == 0 {
		o.Seconds = DefaultSeconds
	}
	p := &prober{ctx: ctx, dir: dir, o: o, start: time.Now()}
	res, err := p.run()
	if err != nil {
		return nil, explain(dir, err)
	}
	return res, nil
}

// explain says what to do about an error.
func explain(dir string, err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return fmt.Errorf("probe: %s is full: %w; make room and probe again", dir, err)
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("probe: %s is on a read-only file system; give a directory that can be written to", dir)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return fmt.Errorf("probe: %s: no permission to write there; give another directory", dir)
	}
	return fmt.Errorf("probe: %w", err)
}

type prober struct {
	ctx   context.Context
	dir   string
	o     Options
	start time.Time

	sys      *procsample.System
	res      *Result
	block    []byte // random
	maxBytes int64  // of one file
	reported time.Time
}

func (p *prober) run() (*Result, error) {
	info, err := os.Stat(p.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such directory", p.dir)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", p.dir)
	}
	if p.sys, err = procsample.Linux(); err != nil {
		return nil, err
	}
	file, err := p.openUnnamed()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	space := procsample.SpaceOf(p.dir)
	p.res = &Result{
		Format: Format, Version: Version, Started: p.start.UTC(), FreeBytes: space.Free, SizeBytes: space.Size,
		Storage: p.sys.DeviceOf(p.dir), Emulation: emulate.Of(p.dir),
	}
	p.maxBytes = maxFileBytes
	if space.Free.OK() {
		if space.Free.N < minFreeBytes {
			return nil, fmt.Errorf("%s has %d bytes free, and %d are needed: %w", p.dir, space.Free.N, minFreeBytes, unix.ENOSPC)
		}
		p.maxBytes = min(p.maxBytes, space.Free.N/3)
	}
	if p.res.Storage.InMemory() {
		if v := p.sys.MemoryAvailable(); v.OK() {
			p.maxBytes = max(chunkBytes, min(p.maxBytes, v.N/3))
		}
	}
	p.block = make([]byte, chunkBytes)
	rand.NewChaCha8([32]byte{'p', 'r', 'o', 'b', 'e'}).Read(p.block)

	if err := p.write(file); err != nil {
		return nil, err
	}
	// Each kind of file and size gets the same share of the time that is left.
	left := 2 * len(BlockBytes)
	for _, kind := range []string{Preallocated, Growing} {
		for _, size := range BlockBytes {
			slot := (p.seconds(p.o.Seconds) - time.Since(p.start)) / time.Duration(left)
			if err := p.syncs(file, kind, size, slot); err != nil {
				return nil, err
			}
			left--
		}
	}
	p.res.Seconds = time.Since(p.start).Seconds()
	return p.res, nil
}

func (p *prober) seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// openUnnamed makes a file in the directory and removes its name.
func (p *prober) openUnnamed() (*os.File, error) {
	f, err := os.CreateTemp(p.dir, ".tpccbench-probe-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// report tells the progress, but not too often.
func (p *prober) report(step string) {
	if p.o.Progress == nil || time.Since(p.reported) < progressStep {
		return
	}
	p.reported = time.Now()
	p.o.Progress(Progress{step, max(0, p.o.Seconds-time.Since(p.start).Seconds())})
}

// write measures the sequential write, and leaves the file as it was measured: whole and durable.
func (p *prober) write(file *os.File) error {
	budget := p.seconds(p.o.Seconds * writeShare)
	var spent time.Duration
	for size := int64(chunkBytes); ; {
		took, err := p.writeFile(file, size)
		if err != nil {
			return err
		}
		spent += took
		p.res.Write = Write{Bytes: size, Seconds: took.Seconds(), BytesPerS: float64(size) / took.Seconds()}
		// The next file takes what is left of the time, but not more than eight times as much as this one: the rate of a
		// short file promises too much.
		next := int64(p.res.Write.BytesPerS*(budget-spent).Seconds()) / chunkBytes * chunkBytes
		next = min(next, 8*size, p.maxBytes/chunkBytes*chunkBytes)
		if next <= size {
			return nil
		}
		size = next
	}
}

// writeFile writes the file anew with size bytes, and returns how long that took.
func (p *prober) writeFile(file *os.File, size int64) (time.Duration, error) {
	if err := file.Truncate(0); err != nil {
		return 0, err
	}
	if err := file.Sync(); err != nil {
		return 0, err
	}
	start := time.Now()
	for at := int64(0); at < size; at += chunkBytes {
		if err := p.ctx.Err(); err != nil {
			return 0, err
		}
		p.report("sequential write")
		if _, err := file.WriteAt(p.block, at); err != nil {
			return 0, err
		}
	}
	if err := fdatasync(file); err != nil {
		return 0, err
	}
	return time.Since(start), nil
}

// syncs measures write + fdatasync of blocks of one size, for about the time of the slot.
func (p *prober) syncs(file *os.File, kind string, size int, slot time.Duration) error {
	fileBytes := p.res.Write.Bytes / int64(size) * int64(size)
	if kind == Growing {
		grown, err := p.openUnnamed()
		if err != nil {
			return err
		}
		defer grown.Close()
		file, fileBytes = grown, p.maxBytes
	}
	// One that is not measured, so that the first block finds the file's own blocks in memory.
	if err := p.syncBlock(file, size, 0); err != nil {
		return err
	}

	latency := hdrhistogram.New(1, time.Hour.Nanoseconds(), 3)
	step := fmt.Sprintf("write + fdatasync of %d B, %s file", size, kind)
	before := p.sys.Counters(p.res.Storage)
	start := time.Now()
	var n int64
	for at := int64(size); n < minSyncs || time.Since(start) < slot; n++ {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		p.report(step)
		if at+int64(size) > fileBytes {
			if kind == Growing {
				break // it is as long as it may be
			}
			at = 0
		}
		began := time.Now()
		if err := p.syncBlock(file, size, at); err != nil {
			return err
		}
		if err := latency.RecordValue(max(1, time.Since(began).Nanoseconds())); err != nil {
			return err
		}
		at += int64(size)
	}
	took := time.Since(start)
	d := p.sys.Counters(p.res.Storage).Sub(before)
	count := procsample.Value{N: n}
	sectors := d.WriteBytes
	sectors.N /= 512
	p.res.Syncs = append(p.res.Syncs, Sync{
		File: kind, BlockBytes: size, Syncs: n, SyncsPerS: float64(n) / took.Seconds(),
		LatencyNSP50: latency.ValueAtQuantile(50), LatencyNSP90: latency.ValueAtQuantile(90),
		LatencyNSP99: latency.ValueAtQuantile(99), LatencyNSMax: latency.Max(),
		DeviceFlushesPerSync: d.Flushes.Over(count), DeviceWritesPerSync: d.Writes.Over(count),
		DeviceSectorsPerSync: sectors.Over(count),
	})
	return nil
}

// syncBlock writes one block and makes it durable.
func (p *prober) syncBlock(file *os.File, size int, at int64) error {
	// Another part of the random bytes for each block, so that none is equal to the one before.
	from := int(at/int64(size)*512) % (len(p.block) - size + 1)
	if _, err := file.WriteAt(p.block[from:from+size], at); err != nil {
		return err
	}
	return fdatasync(file)
}

func fdatasync(file *os.File) error {
	for {
		err := unix.Fdatasync(int(file.Fd()))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "fdatasync", Path: file.Name(), Err: err}
		}
		return nil
	}
}

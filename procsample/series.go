package procsample

import (
	"sync"
	"time"
)

// Point is one interval of a series.
type Point struct {
	ElapsedNS     int64 `json:"elapsed_ns"`     // since the series began, at the end of the interval
	ResidentBytes Value `json:"resident_bytes"` // of the process, at the end of the interval
	CPUNS         Value `json:"cpu_ns"`         // of the process, in the interval
	DeviceBytes   Value `json:"device_bytes"`   // of the data's device, in the interval
	// Counters says how far the counters that the caller of StartSeries reads went in the interval, in their order.
	Counters []Value `json:"counters,omitempty"`
}

// Series samples in the background, once per interval, until Stop.
type Series struct {
	sampler  *Sampler
	counters func() []Value
	start    time.Time
	before   reading
	quit     chan struct{}
	done     chan struct{}
	once     sync.Once
	points   []Point // the goroutine's until done is closed
}

type reading struct {
	resident, cpu, device Value
	counters              []Value
}

// StartSeries begins a series; an interval is one second in a study. One point costs some 0.1 ms of CPU, which counts
// as the process's. Intervals that the machine is too busy to sample are one longer interval. counters, if not nil, is
// called at the start and at the end of each interval, by one goroutine at a time, and gives the same number of
// counters each time.
func (s *Sampler) StartSeries(interval time.Duration, counters func() []Value) *Series {
	if counters == nil {
		counters = func() []Value { return nil }
	}
	r := &Series{
		sampler:  s,
		counters: counters,
		start:    time.Now(),
		quit:     make(chan struct{}),
		done:     make(chan struct{}),
	}
	r.before = s.read(counters)
	go r.run(interval)
	return r
}

// Stop ends the series and gives its points; the last one is of the part of an interval that was left.
func (r *Series) Stop() []Point {
	r.once.Do(func() { close(r.quit) })
	<-r.done
	return r.points
}

func (r *Series) run(interval time.Duration) {
	defer close(r.done)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.add()
		case <-r.quit:
			r.add()
			return
		}
	}
}

// add appends the interval from the last point to now.
func (r *Series) add() {
	now := r.sampler.read(r.counters)
	elapsed := time.Since(r.start).Nanoseconds()
	if n := len(r.points); elapsed == 0 || n > 0 && r.points[n-1].ElapsedNS == elapsed {
		return // stopped at a tick: nothing is left
	}
	r.points = append(r.points, Point{
		ElapsedNS:     elapsed,
		ResidentBytes: now.resident,
		CPUNS:         now.cpu.Sub(r.before.cpu),
		DeviceBytes:   now.device.Sub(r.before.device),
		Counters:      sub(now.counters, r.before.counters),
	})
	r.before = now
}

func (s *Sampler) read(counters func() []Value) reading {
	return reading{
		resident: s.process.Memory().Resident,
		cpu:      s.process.CPU(),
		device:   s.sys.disks().of(s.Data).WriteBytes,
		counters: counters(),
	}
}

// sub gives how far each counter went.
func sub(now, before []Value) []Value {
	d := make([]Value, len(now))
	for i := range now {
		d[i] = now[i].Sub(before[i])
	}
	return d
}

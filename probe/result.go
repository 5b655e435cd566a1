package probe

import (
	"time"

	"tpccbench/emulate"
	"tpccbench/procsample"
)

// Format and Version identify the format of a result in JSON.
const (
	Format  = "tpccbench.probe"
	Version = 1
)

// The files that blocks are written to.
const (
	Preallocated = "preallocated" // its blocks are there and were written before
	Growing      = "growing"      // each block makes it longer
)

// Result is what a probe found.
type Result struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Started time.Time `json:"started"`
	Seconds float64   `json:"seconds"` // that the probe took

	Storage   procsample.Device `json:"storage"`             // what stands behind the directory
	Emulation *emulate.Facts    `json:"emulation,omitempty"` // nil: the device is what it says
	FreeBytes procsample.Value  `json:"free_bytes"`          // on the file system, before the probe
	SizeBytes procsample.Value  `json:"size_bytes"`          // of the file system

	Write Write  `json:"sequential_write"`
	Syncs []Sync `json:"syncs"`
}

// Write is the sustained rate of large writes.
type Write struct {
	BytesPerS float64 `json:"bytes_per_s"`
	Bytes     int64   `json:"bytes"`   // of the file that gave the rate
	Seconds   float64 `json:"seconds"` // that it took, fdatasync included
}

// Sync is how long it takes to make one block durable.
type Sync struct {
	File         string  `json:"file"` // Preallocated or Growing
	BlockBytes   int     `json:"block_bytes"`
	Syncs        int64   `json:"syncs"` // how many were measured
	SyncsPerS    float64 `json:"syncs_per_s"`
	LatencyNSP50 int64   `json:"latency_ns_p50"`
	LatencyNSP90 int64   `json:"latency_ns_p90"`
	LatencyNSP99 int64   `json:"latency_ns_p99"`
	LatencyNSMax int64   `json:"latency_ns_max"`

	// Of the whole device, per sync, all writers.
	DeviceFlushesPerSync procsample.Share `json:"device_flushes_per_sync"`
	DeviceWritesPerSync  procsample.Share `json:"device_writes_per_sync"`
	DeviceSectorsPerSync procsample.Share `json:"device_sectors_per_sync"` // of 512 B
}

// Sync finds the figures of a kind of file and a block size, or nil.
func (r *Result) Sync(file string, blockBytes int) *Sync {
	for i := range r.Syncs {
		if s := &r.Syncs[i]; s.File == file && s.BlockBytes == blockBytes {
			return s
		}
	}
	return nil
}

// FastestSync is the most that the device makes durable in a second, one after the other: the highest rate of all
// block sizes and files. It is nil if none was measured.
func (r *Result) FastestSync() *Sync {
	var best *Sync
	for i := range r.Syncs {
		if s := &r.Syncs[i]; best == nil || s.SyncsPerS > best.SyncsPerS {
			best = s
		}
	}
	return best
}

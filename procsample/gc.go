package procsample

import (
	"fmt"
	"os"
	"runtime/metrics"
)

// GC is what the garbage collector of a Go process has cost, since it began.
type GC struct {
	// CPUNS is the CPU time of collections that have ended, ns: marking by dedicated workers and by goroutines that had to
	// assist, and pauses. Workers that ran because a processor had nothing else to do are not in it, nor is sweeping,
	// which Go does not account. It is Go's own estimate by the clock, not the kernel's accounting, and errs upwards: a
	// worker that the kernel did not let run counts as running, and a pause counts for all of Go's processors.
	CPUNS  Value
	Cycles Value // collections that have ended
}

// GC reads what the collector has cost. Only the calling process's own is known.
func (p Process) GC() GC {
	cpu, cycles, err := p.sys.gc(p.pid)
	if err != nil {
		return GC{unread(err), unread(err)}
	}
	return GC{Value{N: cpu}, Value{N: cycles}}
}

// runtimeGC asks the Go runtime, whose CPU figures change at the end of a collection only.
func runtimeGC(pid int) (cpuNS, cycles int64, err error) {
	if pid != os.Getpid() {
		return 0, 0, fmt.Errorf("garbage collector of process %d: only a process's own can be asked", pid)
	}
	read := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(read)
	for i, kind := range []metrics.ValueKind{metrics.KindFloat64, metrics.KindFloat64, metrics.KindUint64} {
		if read[i].Value.Kind() != kind {
			return 0, 0, fmt.Errorf("this version of Go has no metric %s", read[i].Name)
		}
	}
	return int64((read[0].Value.Float64() - read[1].Value.Float64()) * 1e9), int64(read[2].Value.Uint64()), nil
}

package procsample

import (
	"os"
	"runtime"
	"testing"
)

// The collector of this process: each collection counts as one, and its CPU time grows. That of another process is not
// known.
func TestGC(t *testing.T) {
	sys, err := Linux()
	mustDo(t, err)
	before := sys.Self().GC()
	keep := make([]*[1 << 10]*int, 2_000) // something to mark
	for i := range keep {
		keep[i] = new([1 << 10]*int)
	}
	for range 3 {
		runtime.GC()
	}
	after := sys.Self().GC()
	runtime.KeepAlive(keep)
	if n := after.Cycles.Sub(before.Cycles); !n.OK() || n.N < 3 {
		t.Errorf("%v collections, want at least 3", n)
	}
	if ns := after.CPUNS.Sub(before.CPUNS); !ns.OK() || ns.N <= 0 {
		t.Errorf("they took %v ns of CPU", ns)
	}
	other := sys.Process(os.Getppid()).GC()
	lacks(t, "another's CPU", other.CPUNS, "only a process's own")
	lacks(t, "another's collections", other.Cycles, "only a process's own")
}

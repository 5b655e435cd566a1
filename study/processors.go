package study

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"tpccbench/record"
)

// processorsPerCore is the number of Go processors (GOMAXPROCS) per core in a measuring process. A thread that is in C
// code or in fsync keeps its processor until the runtime takes it back; with one per core SQLite on several threads
// then waits for a processor while a core is idle. Two per core favour SQLite, and cost the record-log store a little.
const processorsPerCore = 2

// place is where a process runs.
type place struct {
	CPUs       []int `json:"cpus"`       // its processors
	GOMAXPROCS int   `json:"gomaxprocs"` // Go's
}

// placeOf is the place of a process on the processors of the list; empty: on all that this process may use. Who sets
// GOMAXPROCS decides it; the record says what it was.
func placeOf(list string) (place, error) {
	cpus, err := cpusOf(list)
	if err != nil {
		return place{}, err
	}
	p := place{cpus, processorsPerCore * len(cpus)}
	if n, err := strconv.Atoi(os.Getenv("GOMAXPROCS")); err == nil && n > 0 {
		p.GOMAXPROCS = n
	}
	return p, nil
}

// environment is the variable that makes a Go process have its number of processors.
func (p place) environment() string { return fmt.Sprintf("GOMAXPROCS=%d", p.GOMAXPROCS) }

// cpusOf is the processors of the list, each of which this process may use; empty: all of those.
func cpusOf(list string) ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("the processors of this process are not known: %w", err)
	}
	var all []int
	for n := 0; len(all) < set.Count(); n++ {
		if set.IsSet(n) {
			all = append(all, n)
		}
	}
	if list == "" {
		return all, nil
	}
	cpus, err := record.ParseCPUs(list)
	if err != nil {
		return nil, err
	}
	for _, n := range cpus {
		if !slices.Contains(all, n) {
			return nil, fmt.Errorf("%q names processor %d; this program may use %v", list, n, all)
		}
	}
	return cpus, nil
}

// onCPUs calls start, which starts a process, so that all threads of that process run on the processors and no others.
func onCPUs(cpus []int, start func() error) error {
	var before, set unix.CPUSet
	for _, n := range cpus {
		set.Set(n)
	}
	// A process that is started inherits the processors of the thread that starts it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	if before == set {
		return start()
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("processors %v: %w", cpus, err)
	}
	err := start()
	if serr := unix.SchedSetaffinity(0, &before); serr != nil {
		panic(fmt.Sprintf("study: a thread's own processors were refused: %v", serr))
	}
	return err
}

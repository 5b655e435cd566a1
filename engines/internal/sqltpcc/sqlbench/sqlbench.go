// Package sqlbench is the Go side of the comparison with the C program in cbench: a benchmark of an adapter without the
// project's driver, over the same store and the same number of transactions.
package sqlbench

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// Environment variables that Mix reads. Without any it is a short benchmark of a small population.
const (
	// StoreVar is a directory with a loaded store of one warehouse of the standard population. It is made if missing.
	StoreVar = "SQLBENCH_STORE"
	// DirVar is the directory to run in, on a copy of that store; the default is a temporary one.
	DirVar = "SQLBENCH_DIR"
	// TerminalsVar is the number of terminals; the default is 1.
	TerminalsVar = "SQLBENCH_TERMINALS"
	// SettingsVar is the engine's settings as name=value, separated by commas.
	SettingsVar = "SQLBENCH_SETTINGS"
)

const seed = 1

// Mix runs b.N transactions of the standard mix and reports tx/s and cpu_us/tx, the process's.
func Mix(b *testing.B, f engines.Factory) {
	b.StopTimer()
	opt := engines.Options{Settings: map[string]string{}}
	for pair := range strings.SplitSeq(os.Getenv(SettingsVar), ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			opt.Settings[name] = value
		}
	}
	terminals := 1
	if text, ok := os.LookupEnv(TerminalsVar); ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			b.Fatalf("%s is %q; it must be a number from 1", TerminalsVar, text)
		}
		terminals = n
	}
	scale := tpcc.TestScale(1)
	root := os.Getenv(DirVar)
	if root == "" {
		root = b.TempDir()
	}
	dir := filepath.Join(root, "run")
	check(b, os.RemoveAll(dir))
	check(b, os.MkdirAll(dir, 0o755))
	defer func() { check(b, os.RemoveAll(dir)) }()
	if from := os.Getenv(StoreVar); from != "" {
		scale = tpcc.StandardScale(1)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			check(b, os.MkdirAll(from, 0o755))
			load(b, f, from, opt, scale)
		}
		check(b, os.RemoveAll(dir))
		check(b, os.CopyFS(dir, os.DirFS(from)))
	} else {
		load(b, f, dir, opt, scale)
	}
	run(b, f, dir, opt, scale, terminals)
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func load(b *testing.B, f engines.Factory, dir string, opt engines.Options, scale tpcc.Scale) {
	e, err := f.Open(dir, opt)
	check(b, err)
	check(b, errors.Join(e.Load(tpcc.Population(seed, scale)), e.Close()))
}

func run(b *testing.B, f engines.Factory, dir string, opt engines.Options, scale tpcc.Scale, terminals int) {
	e, err := f.Open(dir, opt)
	check(b, err)
	var left atomic.Int64
	left.Store(int64(b.N))
	var all, ready sync.WaitGroup
	begin := make(chan struct{})
	errs := make([]error, terminals)
	for i := range terminals {
		s, err := e.NewSession()
		check(b, err)
		t := tpcc.NewTerminal(seed, i, scale, tpcc.StandardMix())
		ready.Add(1)
		all.Go(func() {
			ready.Done()
			<-begin
			var in tpcc.Input
			var out tpcc.Output
			for errs[i] == nil && left.Add(-1) >= 0 {
				t.Next(&in)
				errs[i] = engines.Call(s, &in, &out)
			}
			errs[i] = errors.Join(errs[i], s.Close())
		})
	}
	ready.Wait()
	cpu, began := cpuTime(b), time.Now()
	b.StartTimer()
	close(begin)
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "tx/s")
	b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/float64(b.N), "cpu_us/tx")
	check(b, errors.Join(errs...))
	check(b, e.Close())
}

// cpuTime is the processor time of this process, user and system.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

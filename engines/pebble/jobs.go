package pebble

import (
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// jobs measures flushes and compactions by Pebble's events.
type jobs struct {
	mu      sync.Mutex
	flushes int64 // that wrote a table
	spent   time.Duration
	begun   map[string]time.Time // those that run
}

func newJobs() *jobs { return &jobs{begun: map[string]time.Time{}} }

func (j *jobs) listener() *pebble.EventListener {
	return &pebble.EventListener{
		FlushBegin: func(i pebble.FlushInfo) { j.begin(fmt.Sprintf("flush %d", i.JobID)) },
		FlushEnd: func(i pebble.FlushInfo) {
			j.end(fmt.Sprintf("flush %d", i.JobID), i.Err == nil && len(i.Output) > 0)
		},
		CompactionBegin: func(i pebble.CompactionInfo) { j.begin(fmt.Sprintf("compaction %d", i.JobID)) },
		CompactionEnd:   func(i pebble.CompactionInfo) { j.end(fmt.Sprintf("compaction %d", i.JobID), false) },
		// The default logs it; readers get the error itself.
		BackgroundError: func(error) {},
	}
}

func (j *jobs) begin(name string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun[name] = time.Now()
}

func (j *jobs) end(name string, flush bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if begun, ok := j.begun[name]; ok {
		j.spent += time.Since(begun)
		delete(j.begun, name)
	}
	if flush {
		j.flushes++
	}
}

// facts returns the flushes that have written a table, and the time of all flushes and compactions, ns.
func (j *jobs) facts() (flushes, ns int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	spent := j.spent
	for _, begun := range j.begun {
		spent += time.Since(begun)
	}
	return j.flushes, spent.Nanoseconds()
}

// logger keeps Pebble silent. Fatalf, after which Pebble expects its process to be dead, is the store's failure: from
// then on no file changes, so that it does no harm to go on.
type logger struct{ fs *files }

func (logger) Infof(string, ...any)  {}
func (logger) Errorf(string, ...any) {}
func (l logger) Fatalf(format string, args ...any) {
	l.fs.fail(fmt.Errorf("Pebble: "+format, args...))
}

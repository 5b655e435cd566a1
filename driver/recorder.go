package driver

import (
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"tpccbench/tpcc"
)

// bufferedSamples is the number of samples that a terminal gathers before it takes the recorder's lock.
const bufferedSamples = 256

// The histograms' range in ns and their precision. What takes longer is recorded as the longest; the maximum is exact.
const (
	shortestNS        = 1
	longestNS         = int64(100 * time.Second)
	significantDigits = 3
)

// sample is one transaction that has ended.
type sample struct {
	done    int64 // ns on the run's clock
	latency int64 // ns, from the intended start
	wait    int64 // ns of latency before the call; 0 in a closed loop
	early   bool  // the terminal waited for the intended start, so that wait is the driver's own fault
	typ     tpcc.Type
	outcome outcome
	skipped uint8 // deliveries
}

type outcome uint8

const (
	committed outcome = iota
	rolledBack
	failed
)

// recorder turns samples into figures. It alone decides which samples are inside the window.
//
// Invariant: the window's end, once the run has begun, changes under mu, and to a time that no sample added before has
// passed. So no figure holds a transaction that ended after the window did.
type recorder struct {
	clock *clock

	mu       sync.Mutex
	sealed   bool // the figures were reported: a terminal that was stuck until now changes nothing
	types    [tpcc.NumTypes]typeRecord
	seconds  []Second
	bySecond []*distribution // the latencies of each of seconds
	service  distribution    // of the calls themselves, all types
	late     distribution    // wait, where the terminal was early
	early    int64           // transactions in late
	maxLate  int64
	maxServe int64
	skipped  int64
	last     int64 // the latest end of a transaction in the window, ns on the run's clock
	failures int64 // of the run, the warm-up and the time after the window included
	full     bool  // a transaction of the run failed because the device was full
	kept     []Failure
	ended    int // terminals that a failure ended
}

// typeRecord gathers the figures of one transaction type.
type typeRecord struct {
	counts    Counts
	max       int64
	histogram *hdrhistogram.Histogram
}

func newRecorder(c *clock, duration time.Duration) *recorder {
	r := &recorder{clock: c}
	for i := range r.types {
		r.types[i].histogram = hdrhistogram.New(shortestNS, longestNS, significantDigits)
	}
	r.seconds = make([]Second, 0, min(secondsIn(int64(duration)), 3600))
	return r
}

// secondsIn is the number of seconds that d ns reach into.
func secondsIn(d int64) int64 { return (d + int64(time.Second) - 1) / int64(time.Second) }

// add adds the samples that ended inside the window.
func (r *recorder) add(samples []sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sealed {
		return
	}
	start, end := int64(r.clock.start), r.clock.end.Load()
	for i := range samples {
		s := &samples[i]
		if s.done < start || s.done >= end {
			continue
		}
		r.last = max(r.last, s.done)
		n := (s.done - start) / int64(time.Second)
		second := r.second(n)
		t := &r.types[s.typ]
		t.counts.Attempts++
		switch s.outcome {
		case committed:
			t.counts.Commits++
		case rolledBack:
			t.counts.Rollbacks++
		case failed:
			t.counts.Failures++
			second.Failures++
			continue
		}
		r.skipped += int64(s.skipped)
		r.recordStart(s)
		second.Transactions++
		second.ByType[s.typ]++
		second.MaxLatencyNS = max(second.MaxLatencyNS, s.latency)
		t.max = max(t.max, s.latency)
		latency := min(s.latency, longestNS)
		r.bySecond[n].add(latency)
		if err := t.histogram.RecordValue(latency); err != nil {
			panic(fmt.Sprintf("driver: a latency of %d ns: %v", s.latency, err))
		}
	}
}

// recordStart adds what an open loop wants to know beside the latency.
func (r *recorder) recordStart(s *sample) {
	if !r.clock.open {
		return
	}
	service := s.latency - s.wait
	r.service.add(min(service, longestNS))
	r.maxServe = max(r.maxServe, service)
	if s.early {
		r.late.add(min(s.wait, longestNS))
		r.maxLate = max(r.maxLate, s.wait)
		r.early++
	}
}

func (r *recorder) second(n int64) *Second {
	for int64(len(r.seconds)) <= n {
		r.seconds = append(r.seconds, Second{})
		r.bySecond = append(r.bySecond, new(distribution))
	}
	return &r.seconds[n]
}

func (r *recorder) fail(f Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sealed {
		return
	}
	r.failures++
	if f.EndedTerminal {
		r.ended++
	}
	r.full = r.full || f.DeviceFull
	if len(r.kept) < MaxFailures {
		r.kept = append(r.kept, f)
	}
}

// cut ends the window now, and says whether it would have gone on.
func (r *recorder) cut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock.now()
	if now >= r.clock.end.Load() {
		return false
	}
	r.clock.end.Store(now)
	return true
}

// endWithLast ends the window with its last transaction, unless its time is up. All terminals must have ended.
func (r *recorder) endWithLast() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clock.now() < r.clock.end.Load() {
		r.clock.end.Store(r.last + 1)
	}
}

// report writes the figures into the result; later samples are ignored.
func (r *recorder) report(result *Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sealed = true
	result.MeasuredNS = max(0, r.clock.end.Load()-int64(r.clock.start))
	result.SkippedDeliveries = r.skipped
	result.FailuresOfRun = r.failures
	result.Failures = r.kept
	result.TerminalsEnded = r.ended
	result.DeviceFull = r.full
	if n := secondsIn(result.MeasuredNS); n > 0 {
		r.second(n - 1)
	}
	for i := range r.seconds {
		s := &r.seconds[i]
		ns, _ := percentile(99, r.bySecond[i:i+1])
		s.P99LatencyNS = min(ns, s.MaxLatencyNS)
	}
	result.Seconds, result.latencies = r.seconds, r.bySecond
	for i := range r.types {
		t := &r.types[i]
		latency, err := t.latency()
		if err != nil {
			return fmt.Errorf("driver: encoding the latencies of %s: %w", tpcc.Type(i), err)
		}
		result.Types[i] = TypeResult{Type: tpcc.Type(i).String(), Counts: t.counts, Latency: latency}
	}
	all := typeRecord{histogram: hdrhistogram.New(shortestNS, longestNS, significantDigits)}
	for i := range r.types {
		all.histogram.Merge(r.types[i].histogram)
		all.max = max(all.max, r.types[i].max)
	}
	var err error
	if result.Latency, err = all.latency(); err != nil {
		return fmt.Errorf("driver: encoding the latencies of all types: %w", err)
	}
	return nil
}

// reportOpen writes what only an open loop has.
func (r *recorder) reportOpen(o *OpenLoop) {
	r.mu.Lock()
	defer r.mu.Unlock()
	percentiles := func(d *distribution, longest int64) (p50, p99 int64) {
		p50, _ = percentile(50, []*distribution{d})
		p99, _ = percentile(99, []*distribution{d})
		return min(p50, longest), min(p99, longest)
	}
	o.ServiceP50NS, o.ServiceP99NS = percentiles(&r.service, r.maxServe)
	o.Early = r.early
	_, o.StartLateP99NS = percentiles(&r.late, r.maxLate)
	o.StartLateMaxNS = r.maxLate
}

func (t *typeRecord) latency() (*Latency, error) {
	if t.histogram.TotalCount() == 0 {
		return nil, nil
	}
	encoded, err := t.histogram.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return nil, err
	}
	// A histogram answers with the upper end of a bucket, which may lie above the greatest value in it.
	percentile := func(p float64) int64 { return min(t.histogram.ValueAtPercentile(p), t.max) }
	return &Latency{
		P50NS:       percentile(50),
		P90NS:       percentile(90),
		P99NS:       percentile(99),
		P999NS:      percentile(99.9),
		MaxNS:       t.max,
		HistogramV2: string(encoded),
	}, nil
}

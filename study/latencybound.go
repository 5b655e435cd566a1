package study

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"tpccbench/record"
	"tpccbench/tpcc"
)

// LatencyBound is a bound of a percentile of the latencies: of one transaction type, or of all together.
type LatencyBound struct {
	Percentile float64       // above 0, at most 100, which is the maximum
	Type       string        // as tpcc.Type prints it; empty: all
	Limit      time.Duration // that the percentile must not exceed
}

// ParseLatencyBound reads [TYPE.]pNN=DURATION, such as p99=10ms, p99.9=1s or new_order.p95=500us. p999 is p99.9, and max
// the maximum.
func ParseLatencyBound(text string) (LatencyBound, error) {
	var b LatencyBound
	what, limit, ok := strings.Cut(strings.TrimSpace(text), "=")
	if !ok {
		return b, fmt.Errorf("bound %q: it must be pNN=DURATION, such as p99=10ms or new_order.p95=500us", text)
	}
	point := strings.TrimSpace(what)
	if name, rest, dotted := strings.Cut(point, "."); dotted && percentileOf(name) == 0 {
		var names []string
		for _, t := range tpcc.Types {
			names = append(names, t.String())
		}
		if !slices.Contains(names, name) {
			return b, fmt.Errorf("bound %q: there is no transaction type %q; there are %s", text, name, strings.Join(names, ", "))
		}
		b.Type, point = name, rest
	}
	if b.Percentile = percentileOf(point); b.Percentile == 0 {
		return b, fmt.Errorf("bound %q: %q is no percentile; it must be p50, p90, p95, p99, p999 or the like, or max", text, point)
	}
	var err error
	if b.Limit, err = time.ParseDuration(strings.TrimSpace(limit)); err != nil || b.Limit <= 0 {
		return b, fmt.Errorf("bound %q: %q is no duration above 0, such as 10ms, 500us or 1.5s", text, strings.TrimSpace(limit))
	}
	return b, nil
}

// percentileOf reads pNN, of two digits and those behind the point, with or without it, or max; 0: it is none.
func percentileOf(point string) float64 {
	if point == "max" || point == "p100" {
		return 100
	}
	digits, ok := strings.CutPrefix(point, "p")
	if whole, fraction, dotted := strings.Cut(digits, "."); dotted {
		if len(whole) != 2 || fraction == "" {
			return 0
		}
		digits = whole + fraction
	}
	if !ok || len(digits) < 2 || len(digits) > 6 || strings.Trim(digits, "0123456789") != "" {
		return 0
	}
	p, err := strconv.ParseFloat(digits[:2]+"."+digits[2:], 64)
	if err != nil {
		return 0
	}
	return p
}

// String is the bound as ParseLatencyBound reads it.
func (b LatencyBound) String() string {
	name := "max"
	if b.Percentile < 100 {
		name = "p" + strconv.FormatFloat(b.Percentile, 'f', -1, 64)
	}
	if b.Type != "" {
		name = b.Type + "." + name
	}
	return name + "=" + b.Limit.String()
}

// Words is the bound as a condition: p99 <= 10ms.
func (b LatencyBound) Words() string { return strings.Replace(b.String(), "=", " <= ", 1) }

// LatencyNS is the run's latency at the percentile, ns, from the histograms of its record.
func (b LatencyBound) LatencyNS(run *record.Run) (int64, error) {
	var sum *hdrhistogram.Histogram
	longest := int64(0)
	for _, t := range tpcc.Types {
		name := t.String()
		encoded, ok := run.Histograms[name]
		if !ok || b.Type != "" && b.Type != name {
			continue
		}
		h, err := hdrhistogram.Decode([]byte(encoded))
		if err != nil {
			return 0, fmt.Errorf("%s: the histogram of %s cannot be read: %w", run.Name(), name, err)
		}
		longest = max(longest, int64(run.Figures["latency_ns_max_"+name]))
		if sum == nil {
			sum = h
			continue
		}
		sum.Merge(h)
	}
	switch {
	case sum == nil && b.Type != "":
		return 0, fmt.Errorf("no %s ended in the window, so the bound says nothing; make it longer", b.Type)
	case sum == nil:
		return 0, errors.New("no transaction ended in the window, so the bound says nothing; make it longer")
	}
	if b.Percentile == 100 {
		return longest, nil
	}
	return min(sum.ValueAtPercentile(b.Percentile), longest), nil
}

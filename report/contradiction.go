package report

import (
	"fmt"
	"math"

	"tpccbench/record"
	"tpccbench/tpcc"
)

// contradiction names in what a record cannot be as it was written, though its format is right: figures follow from
// others that are in it, latencies from the histograms, a status from its reason. Empty: nothing was found. It is all
// there is to find an edit with where no hash was kept.
func contradiction(r *record.Run) string {
	for _, check := range []func(*record.Run) string{statusContradiction, countContradiction, latencyContradiction, seriesContradiction, fileContradiction} {
		if what := check(r); what != "" {
			return what
		}
	}
	return ""
}

func statusContradiction(r *record.Run) string {
	if r.Status == record.OK && (r.Gate != "" || r.Reason != "" || len(r.Violations) > 0) {
		return fmt.Sprintf("status is %q with the reason %q", r.Status, oneLine(r.Gate+" "+r.Reason))
	}
	if r.Ended.Before(r.Started) {
		return fmt.Sprintf("it ended at %s, before it started", r.Ended)
	}
	return ""
}

// has reports whether the run has all of the columns; sum is what they come to.
func has(r *record.Run, columns ...string) (sum float64, ok bool) {
	for _, c := range columns {
		v, has := r.Figures[c]
		if !has {
			return 0, false
		}
		sum += v
	}
	return sum, true
}

// countContradiction looks at counts, which add up, and the rates that are made of them.
func countContradiction(r *record.Run) string {
	differs := func(column string, want float64) string {
		have, ok := r.Figures[column]
		if !ok || math.Abs(have-want) <= 1e-9*math.Abs(want) {
			return ""
		}
		return fmt.Sprintf("%s is %v; its other figures give %v", column, have, want)
	}
	var perType []string
	for _, t := range tpcc.Types {
		perType = append(perType, "count_"+t.String())
	}
	completed, ok := has(r, "commits", "rollbacks")
	if !ok {
		return ""
	}
	if n, ok := has(r, perType...); ok && n != completed {
		return fmt.Sprintf("the counts of the types come to %v, commits and rollbacks to %v", n, completed)
	}
	if failures, ok := has(r, "failures"); ok {
		if what := differs("attempts", completed+failures); what != "" {
			return what
		}
	}
	if seconds, ok := has(r, "seconds"); ok && seconds > 0 {
		newOrders := r.Figures["count_"+tpcc.TxNewOrder.String()]
		return firstOf(differs("tx_per_s", completed/seconds), differs("nopm", 60*newOrders/seconds))
	}
	return ""
}

// latencyContradiction looks at the latencies against the histograms that they were read from.
func latencyContradiction(r *record.Run) string {
	for _, t := range tpcc.Types {
		h, err := Histogram(r, t)
		if err != nil {
			return fmt.Sprintf("the histogram of %s cannot be decoded", t)
		}
		if h == nil {
			if _, ok := r.Figures["latency_ns_max_"+t.String()]; ok {
				return fmt.Sprintf("it has latencies of %s without a histogram", t)
			}
			continue
		}
		if count, ok := r.Figures["count_"+t.String()]; ok && count != float64(h.TotalCount()) {
			return fmt.Sprintf("count_%s is %v; its histogram has %d", t, count, h.TotalCount())
		}
		column := "latency_ns_max_" + t.String()
		most, ok := r.Figures[column]
		// The histogram knows the greatest value to three digits, as the end of its bucket, and none above its range.
		longest := h.ValueAtPercentile(100) // quicker than Max
		if ok && (most < float64(longest)*0.999-1 || most > float64(longest) && longest < h.HighestTrackableValue()) {
			return fmt.Sprintf("%s is %v; the longest of its histogram is %d", column, most, longest)
		}
		for _, p := range []struct {
			name       string
			percentile float64
		}{{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p999", 99.9}} {
			column := "latency_ns_" + p.name + "_" + t.String()
			have, ok := r.Figures[column]
			if want := math.Min(float64(h.ValueAtPercentile(p.percentile)), most); ok && have != want {
				return fmt.Sprintf("%s is %v; its histogram gives %v", column, have, want)
			}
		}
	}
	return ""
}

// seriesContradiction looks at the series, whose seconds come to the whole.
func seriesContradiction(r *record.Run) string {
	if len(r.Series) == 0 {
		return ""
	}
	var sum, longest int64
	for i, s := range r.Series {
		if s.Second != i+1 {
			return fmt.Sprintf("second %d of the series is numbered %d", i+1, s.Second)
		}
		sum += s.Transactions
		longest = max(longest, s.LatencyNSMax)
	}
	if completed, ok := has(r, "commits", "rollbacks"); ok && float64(sum) != completed {
		return fmt.Sprintf("the series comes to %d transactions, commits and rollbacks to %v", sum, completed)
	}
	most := 0.0
	for _, t := range tpcc.Types {
		most = math.Max(most, r.Figures["latency_ns_max_"+t.String()])
	}
	if float64(longest) != most {
		return fmt.Sprintf("the longest latency of the series is %d, of the types %v", longest, most)
	}
	return ""
}

// fileContradiction looks at the sizes of the files, which come to the store's.
func fileContradiction(r *record.Run) string {
	store, ok := has(r, "store_bytes")
	if !ok || len(r.FileBytes) == 0 {
		return ""
	}
	var sum int64
	for _, n := range r.FileBytes {
		sum += n
	}
	if float64(sum) != store {
		return fmt.Sprintf("store_bytes is %v; its files come to %d", store, sum)
	}
	return ""
}

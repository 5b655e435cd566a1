package main

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"tpccbench/record"
	"tpccbench/study"
)

// TestParseRate: numbers, and bounds behind max-under however they are joined to it; what is neither is refused.
func TestParseRate(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "1000": 1000, " 0.5 ": 0.5, "1e3": 1000} {
		if rate, bound, err := parseRate(text); rate != want || bound != nil || err != nil {
			t.Errorf("%q: %v, %v, %v; want %v", text, rate, bound, err, want)
		}
	}
	want := study.LatencyBound{Percentile: 95, Type: "payment", Limit: 10 * time.Millisecond}
	for _, text := range []string{"max-under payment.p95=10ms", "max-under:payment.p95=10ms", "max-under=payment.p95=10ms", " max-under :  payment.p95=10ms "} {
		if rate, bound, err := parseRate(text); rate != 0 || err != nil || bound == nil || *bound != want {
			t.Errorf("%q: %v, %v, %v; want %v", text, rate, bound, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                  "it must be a number of transactions/s, or",
		"fast":              "it must be a number of transactions/s, or",
		"-5":                "the rate is -5 transactions/s; it must be 0.001..10000000",
		"NaN":               "the rate is NaN",
		"1e99":              "the rate is 1e+99",
		"max-under":         "it must be pNN=DURATION",
		"max-under p99":     "it must be pNN=DURATION",
		"max-under p99=ten": `"ten" is no duration above 0`,
	} {
		if _, _, err := parseRate(text); err == nil || !strings.Contains(err.Error(), "--rate "+strings.TrimSpace(text)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

// simulated is the record of a run of an engine that completes 1000 transactions/s at most, each of which takes 1 ms and
// waits as in an M/M/1 queue: 1 / (1 - load) ms at every percentile. A rate above falls behind.
func simulated(t *testing.T, rate float64) *record.Run {
	t.Helper()
	run := record.New()
	run.Status, run.Spec.RateTxPerS = record.OK, rate
	achieved, latency := 1000.0, 1e6
	if rate > 0 {
		achieved, latency = rate, 1e6/math.Max(1-rate/1000, 1e-3)
		run.Set("kept_up", 1)
		run.Set("backlog_max", 3)
		run.Set("backlog_end", 0)
		run.Set("service_ns_p99", 1e6)
		run.Set("start_late_ns_p99", 40_000)
	}
	if rate >= 1000 {
		achieved = 1000
		run.Set("kept_up", 0)
		run.Set("backlog_end", 100)
		run.Miss("start_late_ns_p99", "no terminal waited")
	}
	run.Set("tx_per_s", achieved)
	run.Set("latency_ns_max_payment", latency)
	h := hdrhistogram.New(1, int64(100*time.Second), 3)
	if err := h.RecordValue(int64(latency)); err != nil {
		t.Fatal(err)
	}
	encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	run.Histograms = map[string]string{"payment": string(encoded)}
	return run
}

// searched is a search over the simulated engine.
func searched(t *testing.T, text string) *rateSearch {
	t.Helper()
	bound, err := study.ParseLatencyBound(text)
	if err != nil {
		t.Fatal(err)
	}
	spec := record.Spec{Engine: "pure", Device: "ram", W: 1, Terminals: 16, Seconds: 20, Arrivals: record.ArrivalsPoisson}
	s := newRateSearch("ram-w1-pure-16", &spec, bound)
	if err := s.search(func(rate float64) (*record.Run, error) { return simulated(t, rate), nil }); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRateSearch: the search finds the highest rate of the simulated engine, and says in words, in a table and in JSON
// what it found; a bound that is always or never kept is said as that.
func TestRateSearch(t *testing.T) {
	s := searched(t, "p99=4ms") // kept up to 750
	if s.Highest == nil || s.Missing == nil || *s.Highest > 750 || *s.Missing <= 750 || *s.Missing / *s.Highest > 1.052 {
		t.Fatalf("%s", s.Answer)
	}
	if len(s.Steps) != 1+study.RateSearchRuns || s.Steps[0].RateTxPerS != 0 || s.Steps[1].RateTxPerS != 1000 {
		t.Errorf("%d steps: %+v", len(s.Steps), s.Steps)
	}
	var b strings.Builder
	if err := s.write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"pure on ram, W=1, 16 terminals: the highest rate with p99 <= 4ms (poisson arrivals), to within 5 %.\n",
		" closed loop         1000        1.000               -            -            -               -  -\n",
		"        1000         1000     1000.000           1.000            3          100               -  missed: fell behind\n",
		"  kept\n", "  missed\n", "transactions/s keep p99 <= 4ms; ",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := s.writeJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil {
		t.Fatal(err)
	}
	if back["highest_rate_tx_per_s"] != *s.Highest || back["bound"] != "p99=4ms" || back["resolution"] != 0.05 || len(back["steps"].([]any)) != len(s.Steps) {
		t.Errorf("%s", b.String())
	}

	if s := searched(t, "p99=1ms"); s.Highest != nil || s.Missing == nil || len(s.Steps) != 3 ||
		s.Answer != "No rate was found: even 44.04 transactions/s, the lowest that is tried, miss p99 <= 1ms." {
		t.Errorf("a bound that is never kept: %d steps, %s", len(s.Steps), s.Answer)
	}
	// It is kept while the engine keeps up, and a rate at which it does not is none.
	if s := searched(t, "p99=10s"); s.Highest == nil || s.Missing == nil || *s.Missing != 1000 {
		t.Errorf("a loose bound: %s", s.Answer)
	}
	all := rateAnswerWords(study.RateAnswer{Keeps: 1000}, study.LatencyBound{Percentile: 100, Limit: time.Second})
	if all != "Even 1000 transactions/s, the throughput of the closed loop, keep max <= 1s: with these terminals the bound limits nothing." {
		t.Errorf("a bound that is always kept: %s", all)
	}
}

// TestRateSearchFails: a run that breaks a gate ends the search with the gate's name, and the steps before it stay.
func TestRateSearchFails(t *testing.T) {
	bound, err := study.ParseLatencyBound("p99=4ms")
	if err != nil {
		t.Fatal(err)
	}
	s := newRateSearch("c", &record.Spec{}, bound)
	err = s.search(func(rate float64) (*record.Run, error) {
		run := simulated(t, rate)
		if rate > 0 && rate < 900 {
			run.Status, run.Gate, run.Reason = record.Failed, record.GateAcked, "one is gone"
		}
		return run, nil
	})
	if !errors.Is(err, study.ErrGate) || !strings.Contains(err.Error(), "one is gone") || len(s.Steps) != 2 {
		t.Errorf("%v after %d steps", err, len(s.Steps))
	}
	s = newRateSearch("c", &record.Spec{}, bound)
	err = s.search(func(rate float64) (*record.Run, error) {
		run := simulated(t, rate)
		run.Set("tx_per_s", 0)
		return run, nil
	})
	if err == nil || !strings.Contains(err.Error(), "there is no rate to search from") {
		t.Errorf("a closed loop that completed nothing: %v", err)
	}
}

package study

import (
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"tpccbench/record"
)

// TestParseLatencyBound: every form of a bound is read, and printed as it can be read again; what is none is refused with
// the part that is wrong.
func TestParseLatencyBound(t *testing.T) {
	for text, want := range map[string]LatencyBound{
		"p99=10ms":              {99, "", 10 * time.Millisecond},
		" p50 = 1.5s ":          {50, "", 1500 * time.Millisecond},
		"p95=500us":             {95, "", 500 * time.Microsecond},
		"p999=1s":               {99.9, "", time.Second},
		"p99.9=1s":              {99.9, "", time.Second},
		"p9999=1s":              {99.99, "", time.Second},
		"max=2s":                {100, "", 2 * time.Second},
		"p100=2s":               {100, "", 2 * time.Second},
		"new_order.p99=10ms":    {99, "new_order", 10 * time.Millisecond},
		"stock_level.p99.9=1ms": {99.9, "stock_level", time.Millisecond},
		"payment.max=1ms":       {100, "payment", time.Millisecond},
	} {
		b, err := ParseLatencyBound(text)
		if err != nil || b != want {
			t.Errorf("%q: %+v, %v; want %+v", text, b, err, want)
			continue
		}
		if again, err := ParseLatencyBound(b.String()); err != nil || again != b {
			t.Errorf("%q is printed as %q, which is %+v, %v", text, b, again, err)
		}
	}
	for text, want := range map[string]string{
		"":                  "it must be pNN=DURATION",
		"p99":               "it must be pNN=DURATION",
		"p99<10ms":          "it must be pNN=DURATION",
		"=10ms":             `"" is no percentile`,
		"99=10ms":           `"99" is no percentile`,
		"p9=10ms":           `"p9" is no percentile`,
		"p00=10ms":          `"p00" is no percentile`,
		"p9x=10ms":          `"p9x" is no percentile`,
		"p-9=10ms":          `"p-9" is no percentile`,
		"p99.=10ms":         `"p99." is no percentile`,
		"p101.5=10ms":       `"p101.5" is no percentile`,
		"mean=10ms":         `"mean" is no percentile`,
		"new_order=10ms":    `"new_order" is no percentile`,
		"order.p99=10ms":    `there is no transaction type "order"; there are new_order, payment`,
		"new_order.x=10ms":  `"x" is no percentile`,
		"p99=10":            `"10" is no duration above 0`,
		"p99=":              `"" is no duration above 0`,
		"p99=0s":            `"0s" is no duration above 0`,
		"p99=-1ms":          `"-1ms" is no duration above 0`,
		"p99=10ms p50=1ms":  "is no duration above 0",
		"new_order.p99=5 s": `"5 s" is no duration above 0`,
	} {
		if b, err := ParseLatencyBound(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, b, err, want)
		}
	}
}

// TestBoundLatency: the percentile is that of the types' histograms together, or of one, never above the maximum; of
// nothing it is an error.
func TestBoundLatency(t *testing.T) {
	run := record.New()
	run.Histograms = map[string]string{}
	for name, values := range map[string][]int64{"new_order": {100, 200, 300, 400}, "payment": {1000, 2000, 3000, 4001}} {
		h := hdrhistogram.New(1, int64(100*time.Second), 3)
		for _, v := range values {
			if err := h.RecordValue(v); err != nil {
				t.Fatal(err)
			}
		}
		encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		run.Histograms[name] = string(encoded)
		run.Set("latency_ns_max_"+name, float64(values[3]))
	}
	for text, want := range map[string]int64{"p50=1s": 400, "p75=1s": 2000, "p99=1s": 4001, "max=1s": 4001, "new_order.p50=1s": 200, "new_order.max=1s": 400} {
		b, err := ParseLatencyBound(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := b.LatencyNS(run); err != nil || got < want || got > want+want/1000 {
			t.Errorf("%s: %d, %v; want %d, to three digits", text, got, err, want)
		}
	}
	b := LatencyBound{Percentile: 99, Type: "delivery", Limit: 1}
	if _, err := b.LatencyNS(run); err == nil || !strings.Contains(err.Error(), "no delivery ended in the window") {
		t.Errorf("of a type that did not run: %v", err)
	}
	b.Type = ""
	if _, err := b.LatencyNS(record.New()); err == nil || !strings.Contains(err.Error(), "no transaction ended in the window") {
		t.Errorf("of an empty run: %v", err)
	}
	run.Histograms["payment"] = "x"
	if _, err := b.LatencyNS(run); err == nil || !strings.Contains(err.Error(), "the histogram of payment cannot be read") {
		t.Errorf("of a broken histogram: %v", err)
	}
}

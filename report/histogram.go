package report

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"

	"tpccbench/record"
	"tpccbench/tpcc"
)

// Histogram decodes the latencies in ns of one transaction type of a run. It is nil without an error if the run has
// none.
func Histogram(r *record.Run, t tpcc.Type) (*hdrhistogram.Histogram, error) {
	text, ok := r.Histograms[t.String()]
	if !ok {
		return nil, nil
	}
	h, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("run %s: histogram %s: %w", r.Name(), t, err)
	}
	return h, nil
}

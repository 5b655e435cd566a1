package report

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/perf/benchfmt"

	"tpccbench/record"
)

// WriteBenchfmt writes the results of studies in Go's benchmark format, which benchstat and its kin read: one line per
// run, the rounds of a cell under one name
//
//	BenchmarkTPCC/device=sd/w=1/row=pure/terminals=64 2903216 96582 tx/s ...
//
// with the number of transactions where Go has iterations. The units are the columns' names, turned round as the format
// wants it: latency_ns_p99_payment is latency-p99-payment-ns, log_bytes_per_tx is log-B/tx. Each study begins with its
// FirstLine in a comment. A configuration key would keep benchstat from comparing two files that differ in it; so there
// is one, study, only if there is more than one study, for benchstat -col study.
func WriteBenchfmt(w io.Writer, columns []string, studies ...*Study) error {
	out := benchfmt.NewWriter(w)
	for i, s := range studies {
		if _, err := fmt.Fprintf(w, "# %s: %s\n", s.Dir, s.FirstLine()); err != nil {
			return err
		}
		if i == 0 {
			for _, c := range columns {
				if err := writeUnit(out, c); err != nil {
					return err
				}
			}
		}
		for _, c := range s.Cells {
			for _, r := range c.Results() {
				res := &benchfmt.Result{
					Name:  benchfmt.Name(fmt.Sprintf("TPCC/device=%s/w=%d/row=%s/terminals=%d", c.Device, c.W, c.Label, c.Terminals)),
					Iters: int(r.Figures["attempts"]),
				}
				if len(studies) > 1 {
					res.SetConfig("study", s.Dir)
					res.Config[0].File = true
				}
				for _, column := range columns {
					if v, ok := r.Figures[column]; ok {
						unit, factor := benchUnit(column)
						res.Values = append(res.Values, benchfmt.Value{Value: v * factor, Unit: unit})
					}
				}
				if len(res.Values) == 0 {
					continue
				}
				if err := out.Write(res); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// benchUnit is the unit of a column in the benchmark format, and what its figures are multiplied with: ns and B stand
// last, us are turned into ns.
func benchUnit(column string) (unit string, factor float64) {
	of, per, isRate := strings.Cut(column, "_per_")
	factor = 1
	var words []string
	measure := ""
	for _, word := range strings.Split(of, "_") {
		switch word {
		case "bytes":
			measure = "B"
		case "ns":
			measure = "ns"
		case "us":
			measure, factor = "ns", 1e3
		default:
			words = append(words, word)
		}
	}
	if measure != "" {
		words = append(words, measure)
	}
	unit = strings.Join(words, "-")
	if isRate {
		unit += "/" + strings.ReplaceAll(per, "_", "-")
	}
	return unit, factor
}

// writeUnit says which way the column is better, where that is known.
func writeUnit(out *benchfmt.Writer, column string) error {
	if !record.IsFigure(column) {
		return fmt.Errorf("there is no column %q that holds a figure", column)
	}
	better := ""
	switch {
	case column == "tx_per_s" || column == "nopm":
		better = "higher"
	case strings.HasPrefix(column, "latency_") || strings.HasSuffix(column, "_per_tx") || strings.HasSuffix(column, "rss_bytes"):
		better = "lower"
	default:
		return nil
	}
	unit, _ := benchUnit(column)
	return out.Write(&benchfmt.UnitMetadata{UnitMetadataKey: benchfmt.UnitMetadataKey{Unit: unit, Key: "better"}, OrigUnit: unit, Value: better})
}

package study

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"

	"tpccbench/record"
)

// writeSeries writes each run's per-second series as a CSV file of the folder.
func writeSeries(dir string, runs []*record.Run) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, r := range runs {
		var buf bytes.Buffer
		w := csv.NewWriter(&buf)
		_ = w.Write([]string{"second", "transactions", "latency_ns_max", "latency_ns_p99", "rss_bytes", "cpu_ns", "device_bytes",
			"checkpoint_bytes", "checkpoint_ns", "backlog_max", "backlog_end"})
		for _, s := range r.Series {
			_ = w.Write([]string{strconv.Itoa(s.Second), strconv.FormatInt(s.Transactions, 10), strconv.FormatInt(s.LatencyNSMax, 10),
				optional(s.LatencyNSP99), optional(s.RSSBytes), optional(s.CPUNS), optional(s.DeviceBytes),
				optional(s.CheckpointBytes), optional(s.CheckpointNS), optional(s.BacklogMax), optional(s.BacklogEnd)})
		}
		w.Flush()
		if err := w.Error(); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, r.Name()+".csv"), buf.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// optional renders a figure that may not have been measured.
func optional(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

package record

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The CSV of a run with every member and of one that crashed, column by column.
func TestCSVGolden(t *testing.T) {
	crashed := New()
	crashed.Study, crashed.Phase, crashed.Cell, crashed.Round, crashed.Order = "test", PhaseMatrix, "ram-w1-pure-16", 3, 8
	crashed.Spec = sample().Spec
	crashed.Status, crashed.Gate, crashed.Reason = Failed, GateCrash, "killed"
	for _, name := range FigureColumns() {
		crashed.Miss(name, "the process ended without a result")
	}
	ok := sample()
	ok.Status, ok.Gate, ok.Reason = OK, "", ""
	var b bytes.Buffer
	if err := WriteCSV(&b, []*Run{ok, crashed}); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "matrix.csv")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("differs from %s (go test -update writes it); got:\n%s", golden, b.Bytes())
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range Columns {
		if rows[0][i] != c.Name {
			t.Errorf("column %d is %s, want %s", i, rows[0][i], c.Name)
		}
		if IsFigure(c.Name) && rows[2][i] != "" {
			t.Errorf("%s of the crashed run is %q, want empty", c.Name, rows[2][i])
		}
	}
}

// The columns that the design promises are there, in snake case, documented, each once.
func TestColumns(t *testing.T) {
	promised := strings.Fields(`study phase cell round engine device w terminals transport seed seconds status tx_per_s nopm attempts commits
		rollbacks failures skipped_deliveries cpu_us_per_tx driver_cpu_us_per_tx owner_core_share rss_bytes peak_rss_bytes state_bytes store_bytes
		log_bytes_per_tx write_bytes_per_tx device_bytes_per_tx syncs_per_tx device_flushes_per_tx checkpoints psi_cpu_share
		gc_cpu_share gc_cycles busy_gather_us_per_tx busy_apply_us_per_tx busy_log_us_per_tx busy_sync_us_per_tx busy_publish_us_per_tx busy_answer_us_per_tx
		temp_bytes_per_tx checkpoint_bytes_per_tx checkpoint_ns latency_ns_p99_in_checkpoint latency_ns_p99_outside_checkpoint steal_share
		calibration_ns arrivals rate_tx_per_s cpus load_cpus offered_tx_per_s kept_up backlog_max backlog_end start_late_ns_p99 service_ns_p50 service_ns_p99
		latency_ns_p50 latency_ns_p90 latency_ns_p99 latency_ns_p999 latency_ns_max plan_sha256 plan_commit tool_commit exploratory`)
	for _, tx := range []string{"new_order", "payment", "order_status", "delivery", "stock_level"} {
		for _, figure := range []string{"count_", "latency_ns_p50_", "latency_ns_p90_", "latency_ns_p99_", "latency_ns_p999_", "latency_ns_max_"} {
			promised = append(promised, figure+tx)
		}
	}
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, c := range Columns {
		if seen[c.Name] || !snake.MatchString(c.Name) || c.Doc == "" {
			t.Errorf("column %q is there twice, is not snake_case or has no documentation", c.Name)
		}
		seen[c.Name] = true
	}
	for _, name := range promised {
		if !seen[name] {
			t.Errorf("no column %s", name)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0"}, {-3, "-3"}, {12345678901, "12345678901"}, {1.0 / 3, "0.333333"}, {123456.75, "123457"}, {1e18, "1e+18"}, {1 << 52, "4503599627370496"},
		{math.SmallestNonzeroFloat64, "4.94066e-324"},
	} {
		if got := Number(c.v); got != c.want {
			t.Errorf("Number(%g) is %s, want %s", c.v, got, c.want)
		}
	}
}

func TestSettingsText(t *testing.T) {
	if got := SettingsText(map[string]string{"b": "2", "a": "1"}); got != "a=1 b=2" {
		t.Errorf("got %q", got)
	}
	if got := SettingsText(nil); got != "" {
		t.Errorf("no settings: %q", got)
	}
}

// Package record is the raw record of one run: what was asked for, what was measured, what was not and why, and all
// that is needed to do the same run again. A record is one JSON file; it is written once and never changed. Everything
// that the project prints about a study is computed from such files.
//
// The format has a name and a version (Format, Version). Read refuses a record of another format or of a later version,
// one with an unknown or missing column, and one that is cut short, each with an error that names the file. It reads
// the older versions: what a version did not record is missing, with that as the reason.
//
//	version 1  the columns of the first study
//	version 2  checkpoints (bytes, time, p99 with and without), temporary files, garbage collection, the parts of the
//	           owner's time; per second p99 and checkpoints
//	version 3  the open loop (offer, whether it was kept up with, backlog, lateness, service time), latencies of all types together, the arrivals,
//	           transport and processors of a Spec; per second the backlog. The transport that versions 1 and 2 call
//	           inproc is in-process
package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Format and Version identify the record format that is written.
const (
	Format  = "tpccbench.run"
	Version = 3
)

// Values of Run.Status. A run that broke a gate has Failed and its Gate; it stays among the raw records and is in no
// table.
const (
	OK     = "ok"
	Failed = "failed"
)

// Gates: why a run is not a result.
const (
	GateFailures    = "failures"     // a transaction failed
	GateConsistency = "consistency"  // clauses 3.3.2.1-12
	GateAcked       = "acknowledged" // the rows that acknowledged transactions must have left are not all there
	GateDurable     = "durability"   // fewer device flushes than acknowledged commits
	GateCrash       = "crash"        // the process that ran it ended without a result
	GateEqual       = "equal"        // the engines' rows differ
)

// Phases of a study.
const (
	PhaseGate   = "gate"
	PhaseTuning = "tuning"
	PhaseMatrix = "matrix"
	PhaseCell   = "cell" // a single run by hand
)

// Run is one raw record.
type Run struct {
	Format  string `json:"format"`
	Version int    `json:"version"` // of the file, also after Read

	Study string `json:"study"`
	Phase string `json:"phase"`
	Cell  string `json:"cell"`
	// Label names the row of the tables that the cell belongs to; empty: the engine's name. Candidate names the
	// settings that a run of the tuning tried.
	Label     string `json:"label,omitempty"`
	Candidate string `json:"candidate,omitempty"`
	Round     int    `json:"round"` // from 1
	Order     int    `json:"order"` // position in the phase, from 1

	Spec Spec `json:"spec"`

	Status     string   `json:"status"`
	Gate       string   `json:"gate,omitempty"`       // the gate that was broken
	Reason     string   `json:"reason,omitempty"`     // in words
	Violations []string `json:"violations,omitempty"` // of the consistency conditions, the first few
	Warnings   []string `json:"warnings,omitempty"`   // true of a run with status ok: what a reader must know

	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`

	// Figures holds every column of Columns that was measured; Missing says why each of the others was not.
	Figures map[string]float64 `json:"figures"`
	Missing map[string]string  `json:"missing"`

	// Histograms holds, per transaction type, the HdrHistogram of its latencies in ns, in its V2 compressed encoding in
	// base64, which all HdrHistogram libraries read.
	Histograms map[string]string `json:"histograms,omitempty"`
	Series     []Second          `json:"series,omitempty"`
	Digests    map[string]string `json:"digests,omitempty"` // inputs, rows, and each table; SHA-256, hex

	EngineSettings map[string]string `json:"engine_settings"` // read back from the engine
	EngineBusyNS   map[string]int64  `json:"engine_busy_ns,omitempty"`
	FileBytes      map[string]int64  `json:"file_bytes"`
	RowCounts      map[string]int64  `json:"row_counts,omitempty"`

	Machine json.RawMessage `json:"machine,omitempty"`
	Storage json.RawMessage `json:"storage,omitempty"` // the device behind the data directory

	Build        Build        `json:"build"`
	Registration Registration `json:"registration"`
}

// Second is one second of a run's series. Counts are of transactions that ended in it. A nil field was not measured.
type Second struct {
	Second       int    `json:"second"` // from 1
	Transactions int64  `json:"transactions"`
	LatencyNSMax int64  `json:"latency_ns_max"`
	LatencyNSP99 *int64 `json:"latency_ns_p99"` // of all types together, up to 3.1 % too long; nil also if none ended
	RSSBytes     *int64 `json:"rss_bytes"`      // at the second's end
	CPUNS        *int64 `json:"cpu_ns"`
	DeviceBytes  *int64 `json:"device_bytes"`
	// What checkpoints wrote in the second, and for how much of it one ran.
	CheckpointBytes *int64 `json:"checkpoint_bytes"`
	CheckpointNS    *int64 `json:"checkpoint_ns"`
	// Of an open loop: the most transactions that were due while no terminal was free, and how many at the second's end.
	BacklogMax *int64 `json:"backlog_max"`
	BacklogEnd *int64 `json:"backlog_end"`
}

// Build says what was measured with.
type Build struct {
	ToolCommit   string `json:"tool_commit"` // empty if unknown
	ToolModified bool   `json:"tool_modified"`
	GoVersion    string `json:"go_version"`
	CGOCFlags    string `json:"cgo_cflags"`
}

// Registration says under which plan a run was made.
type Registration struct {
	PlanSHA256  string `json:"plan_sha256,omitempty"`
	PlanCommit  string `json:"plan_commit,omitempty"` // the commit that has the plan unchanged; empty: none
	Exploratory bool   `json:"exploratory"`
	Quick       bool   `json:"quick"`
}

// Row is the name of the row of the tables that the run belongs to.
func (r *Run) Row() string {
	if r.Label == "" {
		return r.Spec.Engine
	}
	return r.Label
}

// Name is the record's file name without .json: PHASE-CELL-rN.
func (r *Run) Name() string { return fmt.Sprintf("%s-%s-r%d", r.Phase, r.Cell, r.Round) }

// Set records a measured figure. The column must be one of Columns.
func (r *Run) Set(column string, v float64) {
	mustColumn(column)
	delete(r.Missing, column)
	r.Figures[column] = v
}

// Miss records why a figure was not measured. The column must be one of Columns.
func (r *Run) Miss(column, reason string) {
	mustColumn(column)
	delete(r.Figures, column)
	r.Missing[column] = reason
}

func mustColumn(name string) {
	if !IsFigure(name) {
		panic("record: no figure column " + name)
	}
}

// New returns an empty record of this format.
func New() *Run {
	return &Run{Format: Format, Version: Version, Figures: map[string]float64{}, Missing: map[string]string{}}
}

// Validate checks the record against the schema.
func (r *Run) Validate() error {
	switch {
	case r.Format != Format:
		return fmt.Errorf("format is %q, not %q", r.Format, Format)
	case r.Version < 1 || r.Version > Version:
		return fmt.Errorf("version is %d; this program reads versions 1 to %d", r.Version, Version)
	case r.Phase == "" || r.Cell == "" || r.Round < 1:
		return fmt.Errorf("phase %q, cell %q, round %d: each must be given", r.Phase, r.Cell, r.Round)
	case strings.ContainsAny(r.Phase+r.Cell, "/\x00"):
		return fmt.Errorf("phase %q, cell %q: they name the record's file and must not hold a slash", r.Phase, r.Cell)
	case r.Status != OK && r.Status != Failed:
		return fmt.Errorf("status is %q; it must be %q or %q", r.Status, OK, Failed)
	case r.Status == Failed && (r.Gate == "" || r.Reason == ""):
		return errors.New("a failed run must name its gate and reason")
	}
	if err := r.Spec.Validate(); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	for name := range r.Figures {
		if !IsFigure(name) {
			return fmt.Errorf("unknown figure %q", name)
		}
	}
	for name := range r.Missing {
		if !IsFigure(name) {
			return fmt.Errorf("unknown figure %q among the missing", name)
		}
	}
	for _, name := range FigureColumns() {
		_, has := r.Figures[name]
		reason, lacks := r.Missing[name]
		if SinceVersion(name) > r.Version {
			if has || lacks && reason != notRecorded(r.Version) {
				return fmt.Errorf("figure %q is not one of version %d", name, r.Version)
			}
			continue
		}
		if has == lacks || (lacks && reason == "") {
			return fmt.Errorf("figure %q must be either measured or missing with a reason", name)
		}
	}
	if err := r.validateSpecVersion(); err != nil {
		return fmt.Errorf("spec: %w", err)
	}
	return nil
}

// validateSpecVersion says what in the Spec is not of the record's version, or nil.
func (r *Run) validateSpecVersion() error {
	s := &r.Spec
	switch {
	case r.Version >= 3 && s.Transport == inproc:
		return fmt.Errorf("transport is %q; version %d calls it %q", s.Transport, r.Version, TransportInProcess)
	case r.Version < 3 && (s.Transport != inproc || s.RateTxPerS != 0):
		return fmt.Errorf("transport is %q, rate_tx_per_s is %v; version %d knows the closed loop and %q only", s.Transport, s.RateTxPerS,
			r.Version, inproc)
	}
	return nil
}

// notRecorded is the reason why a record of an older version lacks the figures of later ones.
func notRecorded(version int) string { return fmt.Sprintf("not recorded by version %d", version) }

// complete makes the figures of later versions missing in a record of an older one.
func (r *Run) complete() {
	if r.Version == Version {
		return
	}
	if r.Missing == nil {
		r.Missing = map[string]string{}
	}
	for _, name := range FigureColumns() {
		if SinceVersion(name) > r.Version {
			r.Missing[name] = notRecorded(r.Version)
		}
	}
}

// Read reads and checks the record in the file. That of an older version has all columns, those that it did not record
// among the missing.
func Read(path string) (*Run, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Run)
	if err := decode(path, b, r); err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.complete()
	return r, nil
}

// decode decodes the content of a file, which must be one JSON object with known keys, into v.
func decode(path string, b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: the record is cut short after %d bytes", path, len(b))
		}
		return fmt.Errorf("%s: not a raw record: %w", path, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: something follows the record", path)
	}
	return nil
}

// ReadDir reads all raw records of a folder, in name order, without the records of gates (gate-*.json). A file that
// does not end in .json is none, nor is one whose name begins with a dot.
func ReadDir(dir string) ([]*Run, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var runs []*Run
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".json") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "gate-") {
			continue
		}
		r, err := Read(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if r.Name()+".json" != name {
			return nil, fmt.Errorf("%s: the record inside is %s", filepath.Join(dir, name), r.Name())
		}
		runs = append(runs, r)
	}
	slices.SortStableFunc(runs, func(a, b *Run) int { return strings.Compare(a.Name(), b.Name()) })
	return runs, nil
}

// Write writes the record as a new file of dir, under its Name, so that the file is either there whole or not at all.
// It refuses to replace an existing record and returns the path.
func Write(dir string, r *Run) (string, error) {
	if err := r.Validate(); err != nil {
		return "", fmt.Errorf("record %s: %w", r.Name(), err)
	}
	if r.Version != Version {
		return "", fmt.Errorf("record %s: version is %d; only version %d is written", r.Name(), r.Version, Version)
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return "", fmt.Errorf("record %s: %w", r.Name(), err)
	}
	path := filepath.Join(dir, r.Name()+".json")
	return path, writeNew(path, append(b, '\n'))
}

// writeNew makes path with the content, durably, failing with fs.ErrExist if it is there.
func writeNew(path string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := os.Link(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a folder durable.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// GateFormat and GateVersion identify the format of the record of an equality gate.
const (
	GateFormat  = "tpccbench.gate"
	GateVersion = 1
)

// EqualGate is the raw record of an equality gate: the same transactions from one seed, one after the other, through
// several engines, and whether every row of every table is equal, dates included.
type EqualGate struct {
	Format       string        `json:"format"`
	Version      int           `json:"version"`
	Study        string        `json:"study"`
	Name         string        `json:"name"` // equal-w1
	W            int           `json:"w"`
	Seed         uint64        `json:"seed"`
	Transactions int64         `json:"transactions"`
	Status       string        `json:"status"` // OK or Failed
	Reason       string        `json:"reason,omitempty"`
	Difference   string        `json:"difference,omitempty"` // the first differing row or output
	Started      time.Time     `json:"started"`
	Ended        time.Time     `json:"ended"`
	InputDigest  string        `json:"input_digest"` // SHA-256, hex
	Engines      []EqualEngine `json:"engines"`
	Build        Build         `json:"build"`
	Registration Registration  `json:"registration"`
}

// EqualEngine is one engine's part of an equality gate.
type EqualEngine struct {
	Engine       string            `json:"engine"`
	Settings     map[string]string `json:"settings"`
	Commits      int64             `json:"commits"`
	Rollbacks    int64             `json:"rollbacks"` // by specification
	Skipped      int64             `json:"skipped_deliveries"`
	Failures     int64             `json:"failures"`
	Violations   []string          `json:"violations,omitempty"`
	RowsDigest   string            `json:"rows_digest"`
	TableDigests map[string]string `json:"table_digests"`
	RowCounts    map[string]int64  `json:"row_counts"`
}

// Validate checks the record against the schema.
func (g *EqualGate) Validate() error {
	switch {
	case g.Format != GateFormat || g.Version != GateVersion:
		return fmt.Errorf("format %q version %d; this program reads %q version %d", g.Format, g.Version, GateFormat, GateVersion)
	case g.Name == "":
		return errors.New("the gate's name must be given")
	case g.Status != OK && g.Status != Failed:
		return fmt.Errorf("status is %q; it must be %q or %q", g.Status, OK, Failed)
	case g.Status == Failed && g.Reason == "":
		return errors.New("a failed gate must say the reason")
	}
	return nil
}

// WriteGate writes the record as a new file of dir, gate-NAME.json, and returns its path. It refuses to replace an
// existing record.
func WriteGate(dir string, g *EqualGate) (string, error) {
	if err := g.Validate(); err != nil {
		return "", fmt.Errorf("record of gate %s: %w", g.Name, err)
	}
	b, err := json.MarshalIndent(g, "", " ")
	if err != nil {
		return "", fmt.Errorf("record of gate %s: %w", g.Name, err)
	}
	path := filepath.Join(dir, "gate-"+g.Name+".json")
	return path, writeNew(path, append(b, '\n'))
}

// ReadGate reads and checks the record of an equality gate.
func ReadGate(path string) (*EqualGate, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	g := new(EqualGate)
	if err := decode(path, b, g); err != nil {
		return nil, err
	}
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return g, nil
}

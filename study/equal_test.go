package study

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"tpccbench/engines"
	"tpccbench/engines/pure"
	"tpccbench/record"
	"tpccbench/tpcc"
)

// TestEqualCatchesLiars: the gate is passed by two engines that do the same, and names what a liar did: the table and
// row that differ, the output that differs, or the transaction that failed.
func TestEqualCatchesLiars(t *testing.T) {
	for _, c := range []struct {
		name       string
		lie        func(engines.Session) engines.Session
		reason     string
		difference string
	}{
		{"honest", func(s engines.Session) engines.Session { return s }, "", ""},
		{"wrong row", func(s engines.Session) engines.Session { return latePayments{s} },
			"the rows of pure and liar differ", "history "},
		{"wrong output", func(s engines.Session) engines.Session { return wrongAnswers{s} },
			"the outputs of pure and liar differ, first at transaction ", "answered otherwise"},
		{"failing transaction", func(s engines.Session) engines.Session { return failing{s} },
			"transactions failed, the first with: transaction ", "warehouse "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := EqualOptions{W: 1, Seed: 3, Transactions: 40, Mix: tpcc.StandardMix(), Engines: []string{"pure", "liar"}}
			g, err := Equal(t.Context(), []*engines.Factory{&pure.Factory, liar(c.lie)}, t.TempDir(), o)
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Validate(); err != nil {
				t.Error(err)
			}
			want := record.OK
			if c.reason != "" {
				want = record.Failed
			}
			if g.Status != want || !strings.Contains(g.Reason, c.reason) || !strings.Contains(g.Difference, c.difference) ||
				(g.Difference == "") != (c.difference == "") {
				t.Errorf("status %q, reason %q, difference %q", g.Status, g.Reason, g.Difference)
			}
			for _, e := range g.Engines {
				if n := e.Commits + e.Rollbacks + e.Failures; n != o.Transactions {
					t.Errorf("%s: %d transactions, want %d", e.Engine, n, o.Transactions)
				}
			}
			if c.name == "failing transaction" && (g.Engines[1].Failures == 0 || !strings.Contains(g.Reason, "payment: no payments today")) {
				t.Errorf("%d failures, reason %q", g.Engines[1].Failures, g.Reason)
			}
		})
	}
}

// TestEqualWithoutResult: an unknown engine and an interruption are errors, not a result.
func TestEqualWithoutResult(t *testing.T) {
	list := []*engines.Factory{&pure.Factory}
	o := EqualOptions{W: 1, Seed: 3, Transactions: 40, Mix: tpcc.StandardMix(), Engines: []string{"gone"}}
	if g, err := Equal(t.Context(), list, t.TempDir(), o); err == nil || g != nil || !strings.Contains(err.Error(), `no engine "gone"`) {
		t.Errorf("unknown engine: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.Engines = []string{"pure"}
	dir := t.TempDir()
	if g, err := Equal(ctx, list, dir, o); !errors.Is(err, ErrInterrupted) || g != nil {
		t.Errorf("interrupted: %v", err)
	}
	if g, err := Equal(t.Context(), list, dir, o); !errors.Is(err, os.ErrExist) || g != nil {
		t.Errorf("a directory that is in use: %v", err)
	}
}

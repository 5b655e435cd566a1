package study

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"tpccbench/engines"
	"tpccbench/record"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// EqualOptions say what an equality gate compares.
type EqualOptions struct {
	W            int                          `json:"w"`
	Seed         uint64                       `json:"seed"`
	Transactions int64                        `json:"transactions"`
	Mix          tpcc.Weights                 `json:"mix"`
	Engines      []string                     `json:"engines"`
	Settings     map[string]map[string]string `json:"settings"` // by engine
}

// equalTerminals is the number of terminals per warehouse whose streams are taken in turn: with ten, each district is
// some terminal's home.
const equalTerminals = tpcc.Districts

// Equal loads each engine, each in a folder of dir, runs the same transactions from one seed through it, one after the
// other, opens it again and compares every row of every table, dates included, and every output. The terminals'
// streams are taken in turn. The result's Status is record.Failed if rows or outputs differ, a transaction failed or a
// consistency condition does not hold; an error means that there is no result.
func Equal(ctx context.Context, list []*engines.Factory, dir string, o EqualOptions) (*record.EqualGate, error) {
	g := &record.EqualGate{
		Format: record.GateFormat, Version: record.GateVersion,
		Name: fmt.Sprintf("equal-w%d", o.W), W: o.W, Seed: o.Seed, Transactions: o.Transactions,
		Status: record.OK, Started: time.Now().UTC(), Build: ReadBuild(),
	}
	fail := func(format string, args ...any) {
		if g.Status == record.OK {
			g.Status, g.Reason = record.Failed, fmt.Sprintf(format, args...)
		}
	}
	differ := func(text string) {
		if g.Difference == "" {
			g.Difference = text
		}
	}
	var first *equalRun
	for _, name := range o.Engines {
		f, err := Engine(list, name)
		if err != nil {
			return nil, err
		}
		r := &equalRun{factory: f, dir: filepath.Join(dir, name), o: &o}
		if err := r.do(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, ErrInterrupted
			}
			return nil, fmt.Errorf("engine %s: %w", name, err)
		}
		g.Engines = append(g.Engines, r.result)
		if n := r.result.Failures; n > 0 {
			fail("%s: %d transactions failed, the first with: %s", name, n, r.firstFailure)
		}
		if len(r.result.Violations) > 0 {
			fail("%s: %s", name, r.result.Violations[0])
		}
		if first == nil {
			first, g.InputDigest = r, r.inputs
			continue
		}
		if r.inputs != first.inputs {
			return nil, fmt.Errorf("the inputs of %s and %s differ: this is a fault of the program", name, first.factory.Name)
		}
		if r.result.RowsDigest != first.result.RowsDigest {
			d, err := difference(first, r)
			if err != nil {
				return nil, err
			}
			differ(d)
			fail("the rows of %s and %s differ: %s", first.factory.Name, name, d)
		}
		if i, ok := first.outputs.firstDifference(r.outputs); !ok {
			differ(fmt.Sprintf("transaction %d answered otherwise", i+1))
			fail("the outputs of %s and %s differ, first at transaction %d", first.factory.Name, name, i+1)
		}
	}
	g.Ended = time.Now().UTC()
	return g, nil
}

// equalRun is one engine's part.
type equalRun struct {
	factory *engines.Factory
	dir     string
	o       *EqualOptions

	result       record.EqualEngine
	inputs       string
	outputs      outputs
	firstFailure string
}

func (r *equalRun) open() (engines.Engine, error) {
	return r.factory.Open(r.dir, engines.Options{Settings: r.o.Settings[r.factory.Name]})
}

func (r *equalRun) do(ctx context.Context) error {
	r.result = record.EqualEngine{Engine: r.factory.Name, Settings: r.o.Settings[r.factory.Name]}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		return err
	}
	if err := loadInto(r.factory, r.dir, r.result.Settings, r.o.W, r.o.Seed); err != nil {
		return err
	}
	e, err := r.open()
	if err != nil {
		return err
	}
	if err := errors.Join(r.work(ctx, e), e.Close()); err != nil {
		return err
	}
	if e, err = r.open(); err != nil {
		return fmt.Errorf("reopening after the run: %w", err)
	}
	return errors.Join(r.check(e), e.Close())
}

// work runs the transactions.
func (r *equalRun) work(ctx context.Context, e engines.Engine) error {
	session, err := e.NewSession()
	if err != nil {
		return err
	}
	defer session.Close()
	scale := tpcc.StandardScale(r.o.W)
	terminals := make([]*tpcc.Terminal, equalTerminals*r.o.W)
	for i := range terminals {
		terminals[i] = tpcc.NewTerminal(r.o.Seed, i, scale, r.o.Mix)
	}
	digest := tpcc.NewInputDigest()
	var in tpcc.Input
	var out tpcc.Output
	for i := range r.o.Transactions {
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		terminals[i%int64(len(terminals))].Next(&in)
		digest.Add(&in)
		if err := engines.Call(session, &in, &out); err != nil {
			if r.result.Failures++; r.result.Failures == 1 {
				r.firstFailure = fmt.Sprintf("transaction %d, %s: %v", i+1, in.Type, err)
			}
			r.outputs = append(r.outputs, 0)
			continue
		}
		switch {
		case in.Type == tpcc.TxNewOrder && out.NewOrder.RolledBack:
			r.result.Rollbacks++
		default:
			r.result.Commits++
		}
		if in.Type == tpcc.TxDelivery {
			r.result.Skipped += int64(out.Delivery.Skipped())
		}
		r.outputs = append(r.outputs, sum(in.Type, &out))
	}
	r.inputs = digest.String()
	return nil
}

// check computes digests and checks the consistency conditions.
func (r *equalRun) check(e engines.Engine) error {
	checker := consistency.NewChecker(tpcc.StandardScale(r.o.W))
	digest := consistency.NewDigest()
	err := e.Snapshot(func(row *tpcc.Row) error {
		if err := digest.Add(row); err != nil {
			return err
		}
		return checker.Add(row)
	})
	if err != nil {
		return err
	}
	r.result.RowsDigest = digest.String()
	r.result.TableDigests = tableDigests(digest)
	r.result.RowCounts = rowCounts(checker)
	r.result.Violations = violationTexts(checker.Check())
	return nil
}

func tableDigests(d *consistency.Digest) map[string]string {
	m := map[string]string{}
	for _, t := range tpcc.Tables {
		m[t.String()] = d.Table(t)
	}
	return m
}

func rowCounts(c *consistency.Checker) map[string]int64 {
	m := map[string]int64{}
	for t, n := range c.Rows() {
		m[tpcc.Table(t).String()] = n
	}
	return m
}

func violationTexts(list []consistency.Violation) []string {
	var texts []string
	for _, v := range list {
		texts = append(texts, v.String())
	}
	return texts
}

// difference opens both engines and names the first row that differs.
func difference(a, b *equalRun) (string, error) {
	ea, err := a.open()
	if err != nil {
		return "", err
	}
	eb, err := b.open()
	if err != nil {
		return "", errors.Join(err, ea.Close())
	}
	d, err := consistency.FirstDifference(ea.Snapshot, eb.Snapshot)
	if err = errors.Join(err, ea.Close(), eb.Close()); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s (first is %s, second is %s)", d, a.factory.Name, b.factory.Name), nil
}

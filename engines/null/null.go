// Package null is the engine that does nothing and answers at once: what a run on it costs is the driver's own cost. It
// is no contestant. It stores nothing, so that no gate (consistency, acknowledged work, equality) has a meaning for it:
// its Factory is marked NotAStore, and gates are skipped.
package null

import (
	"iter"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// Factory opens the engine. The directory is neither read nor written.
var Factory = engines.Factory{
	Name:      "null",
	Doc:       "measures the driver, no contestant: stores nothing and answers every transaction at once, with zeros",
	Format:    "null",
	NotAStore: true,
	Open:      open,
}

func open(_ string, opt engines.Options) (engines.Engine, error) {
	none := engines.Factory{Name: "null"}
	if err := none.Check(opt); err != nil {
		return nil, err
	}
	return engine{}, nil
}

type engine struct{}

// Load draws the rows and drops them.
func (engine) Load(rows iter.Seq[*tpcc.Row]) error {
	for range rows {
	}
	return nil
}

func (engine) NewSession() (engines.Session, error) { return session{}, nil }

// Snapshot visits nothing.
func (engine) Snapshot(func(*tpcc.Row) error) error { return nil }

// Facts are all zero: nothing is committed, synced or kept.
func (engine) Facts() (engines.Facts, error) { return engines.Facts{}, nil }

func (engine) Close() error { return nil }

type session struct{}

func (session) NewOrder(_ *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	*out = tpcc.NewOrderOutput{}
	return nil
}

func (session) Payment(_ *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	*out = tpcc.PaymentOutput{}
	return nil
}

func (session) OrderStatus(_ *tpcc.OrderStatusInput, out *tpcc.OrderStatusOutput) error {
	*out = tpcc.OrderStatusOutput{}
	return nil
}

func (session) Delivery(_ *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	*out = tpcc.DeliveryOutput{}
	return nil
}

func (session) StockLevel(_ *tpcc.StockLevelInput, out *tpcc.StockLevelOutput) error {
	*out = tpcc.StockLevelOutput{}
	return nil
}

func (session) Close() error { return nil }

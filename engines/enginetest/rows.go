package enginetest

import (
	"fmt"
	"slices"

	"tpccbench/engines"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// snapshotter is an engine or the model.
type snapshotter interface {
	Snapshot(visit func(*tpcc.Row) error) error
}

// rowsOf takes a snapshot.
func rowsOf(s snapshotter) ([]tpcc.Row, error) {
	var rows []tpcc.Row
	err := s.Snapshot(func(r *tpcc.Row) error {
		rows = append(rows, *r)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return rows, nil
}

// snapshotOf is a snapshot that visits the rows.
func snapshotOf(rows []tpcc.Row) consistency.Snapshot {
	return func(visit func(*tpcc.Row) error) error {
		for i := range rows {
			if err := visit(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

// sameRows says where the rows differ first, or that got are not in the order of a snapshot, which want are in.
func sameRows(got, want []tpcc.Row) error {
	if slices.Equal(got, want) {
		return nil
	}
	d, err := consistency.FirstDifference(snapshotOf(got), snapshotOf(want))
	switch {
	case err != nil:
		return err
	case d != nil:
		return fmt.Errorf("the rows (the first) are not what they must be (the second): %s", d)
	}
	return nil
}

// sameAsModel compares the engine's rows with the model's.
func sameAsModel(e engines.Engine, model snapshotter) error {
	got, err := rowsOf(e)
	if err != nil {
		return err
	}
	want, err := rowsOf(model)
	if err != nil {
		return err
	}
	return sameRows(got, want)
}

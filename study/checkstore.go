package study

import (
	"errors"
	"fmt"
	"os"

	"tpccbench/engines"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// CheckStore opens the store in dir and checks the consistency conditions over one snapshot of it. With w 0 it counts
// the warehouses first.
func CheckStore(f *engines.Factory, dir string, settings map[string]string, w int) ([]consistency.Violation, *consistency.Checker, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	if len(entries) == 0 {
		return nil, nil, fmt.Errorf("%s is empty: there is no store in it", dir)
	}
	e, err := f.Open(dir, engines.Options{Settings: settings})
	if err != nil {
		return nil, nil, err
	}
	checker, err := checkRows(e, w)
	if err = errors.Join(err, e.Close()); err != nil {
		return nil, nil, err
	}
	return checker.Check(), checker, nil
}

// errCounted ends a snapshot once the warehouses are counted.
var errCounted = errors.New("counted")

func checkRows(e engines.Engine, w int) (*consistency.Checker, error) {
	if w == 0 {
		err := e.Snapshot(func(r *tpcc.Row) error {
			switch {
			case r.Table == tpcc.Warehouse:
				w++
			case r.Table > tpcc.Warehouse:
				return errCounted
			}
			return nil
		})
		if err != nil && !errors.Is(err, errCounted) {
			return nil, err
		}
		if w == 0 {
			return nil, errors.New("the store has no warehouse: nothing was loaded into it")
		}
	}
	scale := tpcc.StandardScale(w)
	if err := scale.Validate(); err != nil {
		return nil, err
	}
	checker := consistency.NewChecker(scale)
	return checker, e.Snapshot(checker.Add)
}

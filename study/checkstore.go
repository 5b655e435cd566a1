package study

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"tpccbench/engines"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// CheckStore opens the store in dir and checks the consistency conditions over one snapshot of it. With w 0 it counts
// the warehouses first. recovered is what the engine says of its recovery, if it was not a plain one.
func CheckStore(f *engines.Factory, dir string, opt engines.Options, w int) (violations []consistency.Violation, checker *consistency.Checker, recovered []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(entries) == 0 {
		return nil, nil, nil, fmt.Errorf("%s is empty: there is no store in it", dir)
	}
	e, err := f.Open(dir, opt)
	if err != nil {
		return nil, nil, nil, err
	}
	facts, err := e.Facts()
	if err == nil {
		checker, err = checkRows(e, w)
	}
	if err = errors.Join(err, e.Close()); err != nil {
		return nil, nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(facts.Settings)) {
		if strings.HasPrefix(name, "recovery_") {
			recovered = append(recovered, facts.Settings[name])
		}
	}
	return checker.Check(), checker, recovered, nil
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

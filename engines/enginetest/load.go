package enginetest

import (
	"errors"
	"fmt"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
)

// newModel is a model that holds the workload's population.
func (w *workload) newModel() (*model.Store, error) {
	m := model.New()
	return m, m.Load(w.population())
}

// loaded makes a store in a new directory, loads the workload's population into it and a model, and opens it for the
// time of use.
func (s *suite) loaded(w *workload, use func(dir string, e engines.Engine, m *model.Store) error) error {
	s.logf("%s", w)
	dir := s.tempDir()
	err := s.withEngine(dir, func(e engines.Engine) error {
		if err := e.Load(w.population()); err != nil {
			return fmt.Errorf("load: %w", err)
		}
		m, err := w.newModel()
		if err != nil {
			return err
		}
		return use(dir, e, m)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", w, err)
	}
	return nil
}

// checkLoad: an empty directory is an empty store, and stays one when it is opened and closed; what is loaded is what a
// snapshot gives, now and after reopening; only an empty store can be loaded.
func checkLoad(s *suite) error {
	for _, warehouses := range []int{1, 3} {
		if err := s.checkLoad(s.standard(s.seeds[2], warehouses)); err != nil {
			return err
		}
	}
	return nil
}

func (s *suite) checkLoad(w *workload) error {
	s.logf("%s", w)
	dir := s.tempDir()
	for range 2 {
		err := s.withEngine(dir, func(e engines.Engine) error {
			rows, err := rowsOf(e)
			if err == nil && len(rows) > 0 {
				err = fmt.Errorf("a new store has %d rows, %s the first", len(rows), &rows[0])
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("in an empty directory: %w", err)
		}
	}
	m, err := w.newModel()
	if err != nil {
		return err
	}
	steps := []struct {
		name string
		load bool
	}{{"loaded", true}, {"reopened", false}, {"reopened again", false}}
	for _, step := range steps {
		err := s.withEngine(dir, func(e engines.Engine) error {
			if step.load {
				if err := e.Load(w.population()); err != nil {
					return fmt.Errorf("load: %w", err)
				}
			}
			if err := sameAsModel(e, m); err != nil {
				return err
			}
			if err := e.Load(w.population()); !errors.Is(err, engines.ErrNotEmpty) {
				return fmt.Errorf("loading a second time gives %v; it must be engines.ErrNotEmpty", err)
			}
			return sameAsModel(e, m)
		})
		if err != nil {
			return fmt.Errorf("%s: %s: %w", w, step.name, err)
		}
	}
	return nil
}

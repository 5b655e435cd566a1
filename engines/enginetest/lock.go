package enginetest

import (
	"errors"
	"fmt"
	"strings"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
)

// checkLocked: a directory that is open cannot be opened a second time, however often that is tried; the first goes on
// undisturbed, and once it is closed the directory can be opened.
func checkLocked(s *suite) error {
	w := s.standard(s.seeds[0], 1)
	st := w.stream()
	var m *model.Store
	dir := ""
	err := s.loaded(w, func(d string, e engines.Engine, loaded *model.Store) error {
		dir, m = d, loaded
		return withHistory(e, m, st, func(h *history) error {
			for range 3 {
				second, err := s.open(dir)
				if err == nil {
					return errors.Join(fmt.Errorf("a directory that is open is opened again"), second.Close())
				}
				if !errors.Is(err, engines.ErrLocked) || !strings.Contains(err.Error(), dir) {
					return fmt.Errorf("opening a directory that is open: the error must wrap engines.ErrLocked and name %s: %w", dir, err)
				}
				if err := h.run(20); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	return s.withEngine(dir, func(e engines.Engine) error { return sameAsModel(e, m) })
}

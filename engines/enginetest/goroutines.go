package enginetest

import (
	"fmt"
	"runtime"
	"time"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
)

// checkGoroutines: after Close no goroutine of the engine is left. The store is opened and closed many times, so that
// what an engine leaves behind outnumbers the goroutines of others that happen to end meanwhile.
func checkGoroutines(s *suite) error {
	rounds := 20
	if s.short {
		rounds = 8
	}
	before := runtime.NumGoroutine()
	w := s.standard(s.seeds[0], 1)
	st := w.stream()
	var m *model.Store
	dir := ""
	err := s.loaded(w, func(d string, e engines.Engine, loaded *model.Store) error {
		dir, m = d, loaded
		return withHistory(e, m, st, func(h *history) error { return h.run(100) })
	})
	for range rounds {
		if err != nil {
			return err
		}
		err = s.withEngine(dir, func(e engines.Engine) error {
			return withHistory(e, m, st, func(h *history) error { return h.run(5) })
		})
	}
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(s.patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			return fmt.Errorf("%d goroutines before Open, %d after Close (of %d times); all of them now:\n%s",
				before, runtime.NumGoroutine(), rounds+1, stacks)
		}
	}
	return nil
}

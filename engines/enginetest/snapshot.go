package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
	"tpccbench/tpcc"
)

// checkSnapshotOfOnePoint: transactions that are acknowledged while a snapshot is being visited do not wait for it, and
// leave no trace in it.
func checkSnapshotOfOnePoint(s *suite) error {
	w := s.emptying(s.seeds[2], 2)
	return s.loaded(w, func(_ string, e engines.Engine, m *model.Store) error {
		return withHistory(e, m, w.stream(), func(h *history) error {
			if err := h.run(100); err != nil {
				return err
			}
			// Pause in every table, on its first row and in the middle of it.
			want, err := rowsOf(m)
			if err != nil {
				return err
			}
			pauses := map[int]bool{}
			for first := 0; first < len(want); {
				n := slices.IndexFunc(want[first:], func(r tpcc.Row) bool { return r.Table != want[first].Table })
				if n < 0 {
					n = len(want) - first
				}
				pauses[first], pauses[first+n/2] = true, true
				first += n
			}
			var got []tpcc.Row
			var beside sync.WaitGroup
			err = e.Snapshot(func(r *tpcc.Row) error {
				if pauses[len(got)] {
					if err := s.runBeside(&beside, h, 15); err != nil {
						return err
					}
				}
				got = append(got, *r)
				return nil
			})
			beside.Wait() // those that waited for its end have the engine's sessions until theirs
			if err != nil {
				return fmt.Errorf("snapshot: %w", err)
			}
			if err := sameRows(got, want); err != nil {
				return fmt.Errorf("a snapshot during which transactions ran is not the state before them: %w", err)
			}
			return sameAsModel(e, m)
		})
	})
}

// runBeside runs n transactions on another goroutine, which is of the group, while the calling one stands still.
func (s *suite) runBeside(group *sync.WaitGroup, h *history, n int) error {
	done := make(chan error, 1)
	group.Go(func() { done <- h.run(n) })
	select {
	case err := <-done:
		return err
	case <-time.After(s.patience):
		return errors.New("transactions wait for a Snapshot to end")
	}
}

// checkSnapshotError: an error of the visiting function comes back as it is, at whichever row, and breaks nothing.
func checkSnapshotError(s *suite) error {
	w := s.standard(s.seeds[0], 1)
	return s.loaded(w, func(_ string, e engines.Engine, m *model.Store) error {
		return withHistory(e, m, w.stream(), func(h *history) error {
			rows, err := rowsOf(e)
			if err != nil {
				return err
			}
			for _, at := range []int{0, 1, len(rows) / 2, len(rows) - 1} {
				enough, visited := errors.New("enough"), 0
				err := e.Snapshot(func(*tpcc.Row) error {
					if visited++; visited > at {
						return enough
					}
					return nil
				})
				if err != enough || visited != at+1 { // the very value, not wrapped
					return fmt.Errorf("visit failed at row %d with %v; Snapshot went on to row %d and returned %v", at+1, enough, visited, err)
				}
				if err := h.run(20); err != nil {
					return fmt.Errorf("after a snapshot that ended early: %w", err)
				}
			}
			return sameAsModel(e, m)
		})
	})
}

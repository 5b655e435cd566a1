package enginetest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
)

// checkReopen: rounds of work, close and reopen, the last round without work; the model goes on all along.
func checkReopen(s *suite) error {
	for _, w := range []*workload{s.standard(s.seeds[2], 1), s.emptying(s.seeds[2], 3)} {
		st := w.stream()
		var m *model.Store
		dir := ""
		err := s.loaded(w, func(d string, e engines.Engine, loaded *model.Store) error {
			dir, m = d, loaded
			return withHistory(e, m, st, func(h *history) error { return h.run(s.count(300)) })
		})
		if err != nil {
			return err
		}
		for round, n := range []int{0, s.count(300), 1, 0, 7, s.count(300), 0} {
			err := s.withEngine(dir, func(e engines.Engine) error {
				if err := sameAsModel(e, m); err != nil {
					return err
				}
				return withHistory(e, m, st, func(h *history) error { return h.run(n) })
			})
			if err != nil {
				return fmt.Errorf("%s: reopened %d times: %w", w, round+1, err)
			}
		}
	}
	return nil
}

// checkCopiedWhileOpen: what was acknowledged is in the files at once, not only after Close. The store's directory is
// copied while it is open and idle, as a process that is killed then would leave it, and the copy is opened.
func checkCopiedWhileOpen(s *suite) error {
	w := s.standard(s.seeds[2], 1)
	st := w.stream()
	return s.loaded(w, func(dir string, e engines.Engine, m *model.Store) error {
		return withHistory(e, m, st, func(h *history) error {
			for round, n := range []int{0, 1, s.count(300), 7} {
				if err := h.run(n); err != nil {
					return err
				}
				into := s.tempDir()
				if err := s.copyIdle(dir, into); err != nil {
					return err
				}
				err := s.withEngine(into, func(e engines.Engine) error { return sameAsModel(e, m) })
				if err != nil {
					return fmt.Errorf("a copy made after transaction %d (round %d): %w", st.drawn, round+1, err)
				}
			}
			return nil
		})
	})
}

// copyIdle copies the files of a store that nobody writes to, again and again until they held still meanwhile: a
// checkpoint may still be going on.
func (s *suite) copyIdle(dir, into string) error {
	for deadline := time.Now().Add(s.patience); ; {
		if err := os.RemoveAll(into); err != nil {
			return err
		}
		if err := os.CopyFS(into, os.DirFS(dir)); err == nil {
			same, err := sameFiles(dir, into)
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // a file that is gone by now: not still yet
				return err
			}
			if same {
				return nil
			}
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the files in %s do not hold still although nobody works on the store", dir)
		}
	}
}

// sameFiles compares two directories, names and contents.
func sameFiles(a, b string) (bool, error) {
	contents := func(dir string) (map[string][]byte, error) {
		files := map[string][]byte{}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			name, err := filepath.Rel(dir, path)
			if err != nil {
				return err
			}
			files[name], err = os.ReadFile(path)
			return err
		})
		return files, err
	}
	fa, err := contents(a)
	if err != nil {
		return false, err
	}
	fb, err := contents(b)
	if err != nil {
		return false, err
	}
	if len(fa) != len(fb) {
		return false, nil
	}
	for name, data := range fa {
		if other, ok := fb[name]; !ok || !bytes.Equal(data, other) {
			return false, nil
		}
	}
	return true, nil
}

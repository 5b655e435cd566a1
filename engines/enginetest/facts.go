package enginetest

import (
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
	"tpccbench/tpcc"
)

// checkFacts: the settings are read back and tell a version; the files are those in the directory, with their sizes;
// counts that the engine keeps grow with the work and never fall; and an engine that has finished a checkpoint knows
// what it wrote and how long it took, or says that it cannot tell.
func checkFacts(s *suite) error {
	w := s.standard(s.seeds[2], 1)
	w.weights = tpcc.Weights{1, 1, 0, 0, 0}
	return s.loaded(w, func(dir string, e engines.Engine, m *model.Store) error {
		before, err := e.Facts()
		if err != nil {
			return fmt.Errorf("facts: %w", err)
		}
		if err := checkSettingsFact(before.Settings); err != nil {
			return err
		}
		if err := withHistory(e, m, w.stream(), func(h *history) error { return h.run(s.count(100)) }); err != nil {
			return err
		}
		after, err := e.Facts()
		if err != nil {
			return fmt.Errorf("facts: %w", err)
		}
		if after.Commits != engines.Unknown && after.Commits <= before.Commits {
			return fmt.Errorf("facts: Commits was %d and is %d after writes were acknowledged", before.Commits, after.Commits)
		}
		for _, c := range []struct {
			name          string
			before, after int64
		}{
			{"Syncs", before.Syncs, after.Syncs},
			{"Checkpoints", before.Checkpoints, after.Checkpoints},
			{"CheckpointBytes", before.CheckpointBytes, after.CheckpointBytes},
			{"CheckpointNS", before.CheckpointNS, after.CheckpointNS},
			{"LogBytes", before.LogBytes, after.LogBytes},
			{"TempBytes", before.TempBytes, after.TempBytes},
		} {
			if c.after < c.before || c.after < engines.Unknown {
				return fmt.Errorf("facts: %s was %d and is %d: a count since Open does not fall", c.name, c.before, c.after)
			}
		}
		if err := checkCheckpointFacts(&after); err != nil {
			return err
		}
		return s.checkFileBytes(dir, e)
	})
}

func checkCheckpointFacts(f *engines.Facts) error {
	if (f.CheckpointBytes == engines.Unknown) != (f.CheckpointNS == engines.Unknown) {
		return fmt.Errorf("facts: CheckpointBytes is %d and CheckpointNS is %d: an engine can tell both or neither", f.CheckpointBytes, f.CheckpointNS)
	}
	if f.Checkpoints > 0 && (f.CheckpointBytes == 0 || f.CheckpointNS == 0) {
		return fmt.Errorf("facts: %d checkpoints have written %d bytes in %d ns: none of them is 0", f.Checkpoints, f.CheckpointBytes, f.CheckpointNS)
	}
	return nil
}

func checkSettingsFact(settings map[string]string) error {
	for name, value := range settings {
		if strings.Contains(name, "version") && value != "" {
			return nil
		}
	}
	return fmt.Errorf("facts: Settings tells no version: no name in it has %q in it: %v", "version", settings)
}

// checkFileBytes compares Facts.FileBytes with the directory, until they agree: a checkpoint may be going on. Empty
// files, such as locks, need not be told.
func (s *suite) checkFileBytes(dir string, e engines.Engine) error {
	for deadline := time.Now().Add(s.patience); ; time.Sleep(10 * time.Millisecond) {
		facts, err := e.Facts()
		if err != nil {
			return fmt.Errorf("facts: %w", err)
		}
		told := maps.Clone(facts.FileBytes)
		maps.DeleteFunc(told, func(_ string, n int64) bool { return n == 0 })
		found, err := fileSizes(dir)
		if err != nil {
			return err
		}
		if len(found) > 0 && maps.Equal(told, found) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("facts: FileBytes is %v; the files in the directory are %v", told, found)
		}
	}
}

// fileSizes gives the sizes of the files in dir that are not empty, by base name.
func fileSizes(dir string) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > 0 {
			sizes[d.Name()] += info.Size()
		}
		return err
	})
	return sizes, err
}

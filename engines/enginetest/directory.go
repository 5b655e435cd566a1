package enginetest

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
)

// checkOddPath: a directory's name may have any character in it.
func checkOddPath(s *suite) error {
	for _, name := range []string{`a b?#%ü'"`, `file:x?mode=memory&y=%41;--`, "newline\nand\ttab"} {
		dir := filepath.Join(s.tempDir(), name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		w := s.standard(s.seeds[0], 1)
		m, err := w.newModel()
		if err != nil {
			return err
		}
		st := w.stream()
		err = s.withEngine(dir, func(e engines.Engine) error {
			if err := e.Load(w.population()); err != nil {
				return err
			}
			return withHistory(e, m, st, func(h *history) error { return h.run(50) })
		})
		if err != nil {
			return fmt.Errorf("in a directory named %q: %w", name, err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		if len(entries) == 0 {
			return fmt.Errorf("the store of a directory named %q lies elsewhere: the directory is empty", name)
		}
		if err := s.withEngine(dir, func(e engines.Engine) error { return sameAsModel(e, m) }); err != nil {
			return fmt.Errorf("reopened in a directory named %q: %w", name, err)
		}
	}
	return nil
}

// refused wants Open to fail with an error that names the directory.
func (s *suite) refused(dir, what string) error {
	e, err := s.open(dir)
	if err == nil {
		return errors.Join(fmt.Errorf("%s is opened as a store", what), e.Close())
	}
	if !strings.Contains(err.Error(), dir) {
		return fmt.Errorf("%s: the error does not name %s: %w", what, dir, err)
	}
	return nil
}

// checkMissingDirectory: Open makes no directory.
func checkMissingDirectory(s *suite) error {
	dir := filepath.Join(s.tempDir(), "missing")
	if err := s.refused(dir, "a directory that is missing"); err != nil {
		return err
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("a directory that is missing: Open made %s, or the like: %v", dir, err)
	}
	return nil
}

// checkFileAsDirectory: a file is not taken for a directory, and is left alone.
func checkFileAsDirectory(s *suite) error {
	path := filepath.Join(s.tempDir(), "file")
	return s.refusedWithout(path, path, "a file")
}

// checkForeignFile: a directory that holds something else and no store is none of the engine's.
func checkForeignFile(s *suite) error {
	dir := s.tempDir()
	return s.refusedWithout(filepath.Join(dir, "thesis.txt"), dir, "a directory with somebody's file and no store")
}

// refusedWithout is refused for dir, with a file at path that must be left alone.
func (s *suite) refusedWithout(path, dir, what string) error {
	const text = "not a store"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return err
	}
	if err := s.refused(dir, what); err != nil {
		return err
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != text {
		return fmt.Errorf("opening %s changed the file: %q, %w", what, now, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		return fmt.Errorf("opening %s left %v beside the file, %w", what, entries, err)
	}
	return nil
}

// checkReadOnlyDirectory: a directory that cannot be written to is an error.
func checkReadOnlyDirectory(s *suite) error {
	dir := s.tempDir()
	writable, err := makeReadOnly(dir)
	if err != nil {
		return err
	}
	return errors.Join(s.refused(dir, "a read-only directory"), writable())
}

// makeReadOnly takes the right to write to a directory away, from root too; writable gives it back.
func makeReadOnly(dir string) (writable func() error, err error) {
	if os.Geteuid() != 0 {
		return func() error { return os.Chmod(dir, 0o755) }, os.Chmod(dir, 0o555)
	}
	// Modes do not bind root; the attribute "immutable" does, where the file system has it and root is a real one.
	if err := setImmutable(dir, true); err != nil {
		return nil, skipped(fmt.Sprintf("root may write to any directory, and %s cannot be made immutable: %v", dir, err))
	}
	return func() error { return setImmutable(dir, false) }, nil
}

// immutableFlag is FS_IMMUTABLE_FL of linux/fs.h.
const immutableFlag = 0x10

func setImmutable(path string, immutable bool) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	flags &^= immutableFlag
	if immutable {
		flags |= immutableFlag
	}
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags)
}

// checkDamagedFiles: files that are not what the engine wrote are engines.ErrCorrupt.
func checkDamagedFiles(s *suite) error {
	w := s.standard(s.seeds[0], 1)
	dir := ""
	err := s.loaded(w, func(d string, e engines.Engine, m *model.Store) error {
		dir = d
		return withHistory(e, m, w.stream(), func(h *history) error { return h.run(20) })
	})
	if err != nil {
		return err
	}
	rnd := rand.NewChaCha8([32]byte{})
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		noise := make([]byte, info.Size())
		_, _ = rnd.Read(noise) // never fails
		return os.WriteFile(path, noise, 0o644)
	})
	if err != nil {
		return err
	}
	e, err := s.open(dir)
	if err == nil {
		return errors.Join(errors.New("a store whose files were all overwritten with noise is opened"), e.Close())
	}
	if !errors.Is(err, engines.ErrCorrupt) || !strings.Contains(err.Error(), dir) {
		return fmt.Errorf("files overwritten with noise in %s: the error must wrap engines.ErrCorrupt and name the directory: %w", dir, err)
	}
	return nil
}

package emulate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// errInUse: the card's directory is locked by its keeper, or by the program that uses it.
var errInUse = errors.New("in use by another process")

// lockDir locks a directory until the returned file is closed or the process ends: unix.LOCK_SH by those who use a card,
// unix.LOCK_EX by who would remove it.
func lockDir(path string, how int) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errInUse
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Clean removes the cards whose programs are gone, those that a loop device still shows and those that are in the given
// directories, and returns the directories of what it removed. It leaves cards that are in use, and everything that
// it cannot tell to be a card of this user.
func Clean(dirs ...string) (removed []string, err error) {
	var cards []string
	paths, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		image, err := backingFile(filepath.Base(filepath.Dir(filepath.Dir(path))))
		if err == nil && filepath.Base(image) == imageName {
			cards = append(cards, filepath.Dir(image))
		}
	}
	for _, dir := range dirs {
		dir, err := filepath.EvalSymlinks(dir)
		if err == nil {
			dir, err = filepath.Abs(dir)
		}
		if err != nil {
			return nil, err
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			cards = append(cards, filepath.Join(dir, e.Name()))
		}
	}
	slices.Sort(cards)
	var errs []error
	for _, dir := range slices.Compact(cards) {
		if !isCard(dir) {
			continue
		}
		lock, err := lockDir(dir, unix.LOCK_EX)
		if errors.Is(err, errInUse) || errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = errors.Join(remove(dir), lock.Close())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("an emulated card that was left cannot be removed: %w", err))
			continue
		}
		removed = append(removed, dir)
	}
	return removed, errors.Join(errs...)
}

// isCard says whether this may be the directory of a card: it has such a name, is no link and is this user's.
func isCard(dir string) bool {
	if !strings.HasPrefix(filepath.Base(dir), dirPrefix) {
		return false
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid()
}

// remove takes away the card in the directory, whose path must be absolute and without links, and the directory. The
// limits go first, so that what is still to be written does not keep it. It may be called again after an error.
func remove(dir string) error {
	image := filepath.Join(dir, imageName)
	s, err := readState(dir)
	if errors.Is(err, os.ErrNotExist) {
		s, err = new(state), nil // it ended before anything was attached
	}
	if err != nil {
		return err
	}
	if err := s.Limits.clear(s.Number, s.Facts.Limits); err != nil {
		return err
	}
	loops, err := loopsOf(image)
	if err != nil {
		return err
	}
	for _, loop := range loops {
		number, err := deviceNumber(loop)
		if err != nil {
			return err
		}
		if err := unmount(filepath.Join(dir, mountName), number); err != nil {
			return err
		}
		if err := detach(loop, image); err != nil {
			return err
		}
	}
	// The state goes last but for the directory: without it nothing else would be found again.
	for _, name := range []string{imageName, mountName, stateName + ".new", stateName, ""} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

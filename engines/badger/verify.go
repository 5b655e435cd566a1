package badger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"

	"tpccbench/engines"
)

// verify looks at every table that the MANIFEST names, whole, and says in one error which one is missing or damaged.
// Badger would panic over a damaged one in a goroutine of its own, end the process (log.Fatal), or, if the checksum of
// the table's index is wrong, write a line to its log and go on without the table's rows. It fails with
// engines.ErrLocked if somebody has the store open.
func verify(dir string, opt badger.Options) (err error) {
	unlock, err := lockDir(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	file, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if err != nil {
		return err
	}
	manifest, _, err := badger.ReplayManifestFile(file, opt.ExternalMagicVersion, opt)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("%w: %s: %w", engines.ErrCorrupt, badger.ManifestFilename, err)
	}
	for id, t := range manifest.Tables {
		if int(t.Level) >= opt.MaxLevels {
			return fmt.Errorf("%w: %s: table %d is on level %d of %d", engines.ErrCorrupt, badger.ManifestFilename, id, t.Level, opt.MaxLevels)
		}
		if err := verifyTable(table.NewFilename(id, dir), id, t.Compression); err != nil {
			return err
		}
	}
	debug.FreeOSMemory() // uncompressed blocks, as large as the store: they are not to count as the engine's memory
	return nil
}

// lockDir takes the lock that Badger takes, until unlock.
func lockDir(dir string) (unlock func() error, err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("%w: %s is locked", engines.ErrLocked, dir)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d.Close, nil // closing gives the lock back
}

// verifyTable reads a table: its index and every block, with their checksums.
func verifyTable(path string, id uint64, compression options.CompressionType) (err error) {
	damaged := func(what any) error {
		text, _, _ := strings.Cut(strings.TrimSpace(fmt.Sprint(what)), "\n")
		return fmt.Errorf("%w: table %s: %s", engines.ErrCorrupt, filepath.Base(path), text)
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return damaged("it is missing")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return damaged("it is empty")
	}
	data, err := syscall.Mmap(int(file.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map %s: %w", filepath.Base(path), err)
	}
	defer func() { err = errors.Join(err, syscall.Munmap(data)) }()
	if err := checkFooter(data); err != nil {
		return damaged(err)
	}
	defer func() {
		if r := recover(); r != nil {
			err = damaged(fmt.Sprintf("Badger gave up: %v", r))
		}
	}()
	t, err := table.OpenInMemoryTable(data, id, &table.Options{
		ReadOnly: true, BlockSize: 4096, ChkMode: options.OnBlockRead, Compression: compression,
	})
	if err == nil {
		err = t.VerifyChecksum()
	}
	if err != nil {
		return damaged(err)
	}
	return nil
}

// checkFooter looks at what Badger takes for granted, and ends the process over, before it looks at any checksum. The
// end of a table is: index, its length (4 bytes, big-endian), checksum of the index, its length (4).
func checkFooter(data []byte) error {
	rest := data
	for _, part := range []string{"checksum", "index"} {
		if len(rest) < 4 {
			return fmt.Errorf("it ends before the length of its %s", part)
		}
		end := len(rest) - 4
		n := int64(binary.BigEndian.Uint32(rest[end:]))
		if n == 0 || n > int64(end) {
			return fmt.Errorf("the length of its %s is %d in a file of %d bytes", part, n, len(data))
		}
		rest = rest[:end-int(n)]
	}
	return nil
}

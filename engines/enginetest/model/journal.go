package model

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"tpccbench/engines"
)

// A journal is one file:
//
//	magic    8 bytes "TPCCMDL1"
//	record*  length of payload (4), CRC-32C of payload (4), payload, all numbers little endian
//
// A payload is a kind (1 byte), then the fields of a row or of a transaction's input as package encoding/binary writes
// them. A record that the file ends in the middle of was not acknowledged: it is cut off. All else that cannot be read
// is damage. The file is locked (flock) while it is open.
type journal struct {
	file *os.File
	size int64 // bytes
	cut  int64 // bytes of the incomplete record that was cut off
	sync bool
}

const (
	journalName  = "model.journal"
	journalMagic = "TPCCMDL1"
	headerBytes  = 8
	maxPayload   = 4096
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openJournal opens or makes the journal of a directory and gives replay the payload of each record.
func openJournal(dir string, sync bool, replay func(payload []byte) error) (j *journal, err error) {
	path := filepath.Join(dir, journalName)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open the model's directory: %w", err)
	}
	flags := os.O_RDWR
	if len(entries) == 0 {
		flags |= os.O_CREATE | os.O_EXCL
	}
	file, err := os.OpenFile(path, flags, 0o644)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s holds other files, and no %s", engines.ErrCorrupt, dir, journalName)
	}
	if err != nil {
		return nil, fmt.Errorf("open the model's journal: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.Close())
		}
	}()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, fmt.Errorf("%w: %s is locked: %w", engines.ErrLocked, path, err)
	}
	j = &journal{file: file, sync: sync}
	return j, j.recover(dir, replay)
}

func (j *journal) recover(dir string, replay func(payload []byte) error) error {
	data, err := io.ReadAll(j.file)
	if err != nil {
		return fmt.Errorf("read %s: %w", j.file.Name(), err)
	}
	if len(data) < len(journalMagic) && bytes.HasPrefix([]byte(journalMagic), data) {
		if _, err := j.file.WriteAt([]byte(journalMagic), 0); err != nil {
			return fmt.Errorf("start %s: %w", j.file.Name(), err)
		}
		j.size = int64(len(journalMagic))
		return errors.Join(j.file.Sync(), syncDirectory(dir))
	}
	rest, ok := bytes.CutPrefix(data, []byte(journalMagic))
	if !ok {
		return fmt.Errorf("%w: %s does not begin with %s", engines.ErrCorrupt, j.file.Name(), journalMagic)
	}
	for len(rest) > 0 {
		offset := int64(len(data) - len(rest))
		if len(rest) < headerBytes {
			break
		}
		length := binary.LittleEndian.Uint32(rest)
		if length > maxPayload {
			return fmt.Errorf("%w: %s: offset %d: a record of %d bytes", engines.ErrCorrupt, j.file.Name(), offset, length)
		}
		if len(rest)-headerBytes < int(length) {
			break
		}
		payload := rest[headerBytes:][:length]
		if crc32.Checksum(payload, castagnoli) != binary.LittleEndian.Uint32(rest[4:]) {
			return fmt.Errorf("%w: %s: offset %d: checksum", engines.ErrCorrupt, j.file.Name(), offset)
		}
		if err := replay(payload); err != nil {
			return fmt.Errorf("%w: %s: offset %d: %w", engines.ErrCorrupt, j.file.Name(), offset, err)
		}
		rest = rest[headerBytes+int(length):]
	}
	j.cut = int64(len(rest))
	j.size = int64(len(data)) - j.cut
	if err := j.file.Truncate(j.size); err != nil {
		return fmt.Errorf("cut the incomplete record off %s: %w", j.file.Name(), err)
	}
	return nil
}

// record appends a record to b.
func record(b, payload []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(payload, castagnoli))
	return append(b, payload...)
}

// append makes whole records durable.
func (j *journal) append(records []byte) error {
	if _, err := j.file.WriteAt(records, j.size); err != nil {
		return err
	}
	if j.sync {
		if err := j.file.Sync(); err != nil {
			return err
		}
	}
	j.size += int64(len(records))
	return nil
}

func (j *journal) close() error { return j.file.Close() }

func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

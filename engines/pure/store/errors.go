package store

import (
	"errors"
	"fmt"
)

// Errors that the store wraps; the message says the file, the offset or the value.
var (
	// ErrCorrupt: a file is damaged, missing, or not this store's.
	ErrCorrupt = errors.New("damaged store")
	// ErrVersion: a file is of a version of the format that this program does not read. Wraps with ErrCorrupt.
	ErrVersion = errors.New("store format of another version")
	// ErrSchema: a file was written with another schema. Wraps with ErrCorrupt.
	ErrSchema = errors.New("store of another schema")
	// ErrLocked: the directory is open elsewhere.
	ErrLocked = errors.New("store is in use")
	// ErrFailed: a write or sync has failed; nothing is written any more until the store is opened again.
	ErrFailed = errors.New("store has failed")
	// ErrIndeterminate: the transaction was in the save that failed; whether it is durable, only opening again decides.
	ErrIndeterminate = errors.New("outcome is indeterminate")
	// ErrNotEmpty: Load on a store that holds something.
	ErrNotEmpty = errors.New("store is not empty")
	// ErrRange: a value does not fit its field or key.
	ErrRange = errors.New("value out of range")
	// ErrClosed: the store is closed.
	ErrClosed = errors.New("store is closed")
)

// DamageError says what is wrong with a file. It wraps ErrCorrupt, and ErrVersion or ErrSchema where that is what is
// wrong.
type DamageError struct {
	File   string // its path
	Offset int64  // in the file, bytes; 0 for the file as a whole
	What   string
	kind   error // ErrVersion or ErrSchema, or nil
}

func (e *DamageError) Error() string {
	kind, advice := ErrCorrupt, "nothing was changed; restore the directory from a copy"
	switch e.kind {
	case ErrVersion:
		kind, advice = ErrVersion, "nothing was changed; open it with the program that wrote it"
	case ErrSchema:
		kind, advice = ErrSchema, "nothing was changed; open it with a program of that schema"
	}
	return fmt.Sprintf("%v: %s, offset %d: %s; %s", kind, e.File, e.Offset, e.What, advice)
}

// Unwrap returns the errors that e is besides.
func (e *DamageError) Unwrap() []error {
	if e.kind != nil {
		return []error{ErrCorrupt, e.kind}
	}
	return []error{ErrCorrupt}
}

func damage(file string, offset int64, format string, args ...any) *DamageError {
	return &DamageError{File: file, Offset: offset, What: fmt.Sprintf(format, args...)}
}

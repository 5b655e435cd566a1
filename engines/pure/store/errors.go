package store

import "errors"

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

// Package engines is the contract between the driver and a store: a Factory opens an Engine in a directory, an Engine
// gives Sessions, a Session runs the five transactions of TPC-C one at a time.
//
// A new engine is one folder under engines/ whose package exports a Factory, a test of five lines that calls
// enginetest.Run on it, and one line in cmd/tpccbench/engines.go. Nothing registers itself.
package engines

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"tpccbench/tpcc"
)

// Errors that an engine wraps (%w), so that callers can tell them apart. The message says the file or value.
var (
	// ErrCorrupt: the stored data is damaged or is not this engine's.
	ErrCorrupt = errors.New("damaged store")
	// ErrLocked: another process (or another Engine of this one) has the directory open.
	ErrLocked = errors.New("store is in use")
	// ErrFailed: a write or sync failed earlier; the engine accepts no more writes until it is opened again.
	ErrFailed = errors.New("store has failed")
	// ErrIndeterminate: the transaction may or may not be durable; only reopening decides.
	ErrIndeterminate = errors.New("outcome is indeterminate")
	// ErrNotEmpty: Load on a store that has rows.
	ErrNotEmpty = errors.New("store is not empty")
	// ErrSetting: a setting that the engine does not have, or a value that it does not take.
	ErrSetting = errors.New("bad setting")
)

// Factory describes an engine and opens it.
type Factory struct {
	Name string // as on the command line: lower-case letters
	Doc  string // one line: what it is and how it makes a commit durable
	// Format names what lies in the directory. Engines with the same Format and the same values of the settings that
	// are marked InFormat can open each other's loaded data.
	Format string
	// Settings lists all that Options.Settings may hold.
	Settings []Setting
	// NotAStore marks an engine that keeps nothing (package null, which measures the driver): checks of what a store
	// holds have no meaning for it and are skipped.
	NotAStore bool
	// Missing says in one line why this program was built without the engine and what to do; empty: it has it. Such a
	// Factory is there to be listed; its Open fails.
	Missing string
	// Open opens the store in the existing directory dir, recovering what it holds; an empty directory becomes an
	// empty store. It fails with ErrLocked, ErrCorrupt, ErrSetting, or the file system's error, and names dir in it
	// (ErrSetting apart). It makes no directory, and leaves one alone that holds other files and no store. dir may
	// contain any character that the file system allows.
	Open func(dir string, opt Options) (Engine, error)
}

// Setting describes one setting of an engine.
type Setting struct {
	Name     string   // snake_case, with its unit last: mmap_size_bytes
	Doc      string   // one line
	Default  string   // what an unset setting means
	Values   []string // the values it takes, if they can be listed
	InFormat bool     // true if it decides how data is stored (a page size)
}

// Options are what Open is told.
type Options struct {
	Settings map[string]string // by Setting.Name; unset ones take their default
	// Progress, if it is not nil, may be called by Open, on its own goroutine, with how many bytes of the store are read
	// and how many there are to read.
	Progress func(done, total int64)
}

// Get returns the value of a setting of f: what opt holds, or the default.
func (f *Factory) Get(opt Options, name string) string {
	if v, ok := opt.Settings[name]; ok {
		return v
	}
	for _, s := range f.Settings {
		if s.Name == name {
			return s.Default
		}
	}
	panic("engines: " + f.Name + " has no setting " + name)
}

// Check says which entry of opt.Settings the engine does not have or take, wrapping ErrSetting, or nil. It checks
// listed Values only; Open checks the rest.
func (f *Factory) Check(opt Options) error {
	names := make([]string, 0, len(f.Settings))
	for _, s := range f.Settings {
		names = append(names, s.Name)
		if v, ok := opt.Settings[s.Name]; ok && s.Values != nil && !slices.Contains(s.Values, v) {
			return fmt.Errorf("%w: engine %s: %s=%s; it takes %s", ErrSetting, f.Name, s.Name, v, strings.Join(s.Values, ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(opt.Settings)) {
		if !slices.Contains(names, name) {
			has := "none"
			if len(names) > 0 {
				has = strings.Join(names, ", ")
			}
			return fmt.Errorf("%w: engine %s has no setting %q; it has: %s", ErrSetting, f.Name, name, has)
		}
	}
	return nil
}

// Engine is one open store. Its methods may be called by several goroutines at once, except that Close comes last:
// after every Session is closed and every Snapshot has returned.
type Engine interface {
	// Load fills an empty store and returns when all of it is durable. The rows come table by table; a *Row is valid
	// until the next one. It fails with ErrNotEmpty on a store that has rows. A Load that failed leaves a directory
	// to be thrown away.
	Load(rows iter.Seq[*tpcc.Row]) error

	// NewSession makes a session, one per terminal. An engine may refuse more than it can serve.
	NewSession() (Session, error)

	// Snapshot visits every row of one commit point: table by table in the order of tpcc.Tables, within a table in
	// key order (HISTORY in the order of arrival). Transactions run beside it, do not wait for its end, and leave no trace
	// in it. A *Row is valid during its visit only. An error that visit returns ends it and is returned as it is.
	Snapshot(visit func(*tpcc.Row) error) error

	// Facts may be called at any time between Open and Close, also during a run; it must be cheap.
	Facts() (Facts, error)

	// Close makes nothing less durable than it was; what was acknowledged is there at the next Open.
	Close() error
}

// Session is one terminal's connection: one transaction at a time, by one goroutine at a time.
//
// A nil error means that the outcome is final and durable: a commit whose changes are on the device, or the rollback
// that the specification wants (NewOrderOutput.RolledBack). Any error means that the transaction has failed; unless it
// wraps ErrIndeterminate it left nothing behind. A transaction is serialisable with all other writes; Order-Status and
// Stock-Level see one commit point, whole and durable, that is no older than the session's own last acknowledged
// transaction.
//
// An input that names a row that there is not is an error like any other, but for the unused item of a New-Order. (A
// Delivery of a warehouse that there is not may as well find no new orders.)
//
// Outputs are the caller's, are overwritten as a whole, and are valid only after a nil error. An engine draws no random
// number and reads no clock for a transaction: all of that is in the inputs, which it must not change or keep.
type Session interface {
	NewOrder(*tpcc.NewOrderInput, *tpcc.NewOrderOutput) error
	Payment(*tpcc.PaymentInput, *tpcc.PaymentOutput) error
	OrderStatus(*tpcc.OrderStatusInput, *tpcc.OrderStatusOutput) error
	Delivery(*tpcc.DeliveryInput, *tpcc.DeliveryOutput) error
	StockLevel(*tpcc.StockLevelInput, *tpcc.StockLevelOutput) error
	Close() error
}

// Unknown marks a count of Facts that the engine cannot tell.
const Unknown = -1

// Facts is what an engine says of itself. Counts are since Open; Unknown (-1) where the engine cannot tell.
type Facts struct {
	Commits     int64 // durable commits: transactions, or groups of them where the engine groups
	Syncs       int64 // fsync, fdatasync or the like, of any file
	Checkpoints int64 // finished ones
	// CheckpointBytes and CheckpointNS are what checkpoints have written (image or database pages) and the time that
	// they took, the part of a running one included; both Unknown where the engine cannot tell.
	CheckpointBytes int64
	CheckpointNS    int64
	LogBytes        int64 // change records written: log or WAL, without padding of blocks
	// TempBytes is what was written to temporary files, which lie outside of the store and are deleted when they are
	// closed, often before any of it has reached a device; Unknown where the engine cannot tell.
	TempBytes int64
	OwnerTID  int // Linux thread that applies all writes; 0: there is no such thread
	// BusyNS splits the owner thread's time by part (apply, log, sync, publish, answer, ...), ns; nil: not kept.
	BusyNS map[string]int64
	// FileBytes is the size of each file of the store, by base name.
	FileBytes map[string]int64
	// Settings are read back from the engine, the version of its library among them.
	Settings map[string]string
}

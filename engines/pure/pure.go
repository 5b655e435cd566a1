// Package pure is the adapter for the record-log store (package store): the five transactions as calls on it.
//
// New-Order, Payment and Delivery run on the store's owner goroutine, all that wait at a time as one save: one write
// and one fdatasync. Order-Status and Stock-Level read the last durable save's state on the caller's own goroutine. A
// session sees its own last write there, since it was answered only when its save had been published.
package pure

import (
	"errors"
	"fmt"
	"iter"
	"strconv"

	"tpccbench/engines"
	"tpccbench/engines/pure/store"
	"tpccbench/engines/pure/store/fs"
	"tpccbench/tpcc"
)

// Factory opens record-log stores.
var Factory = engines.Factory{
	Name:   "pure",
	Doc:    "record-log store: all in memory, one owner thread; everything that waits is one save: one log write, one fdatasync",
	Format: "purelog-2",
	Settings: []engines.Setting{
		{Name: "log_segment_bytes", Doc: "size of a log segment, written with zeros before its use", Default: strconv.Itoa(store.DefaultLogSegmentBytes)},
		{Name: "checkpoint_min_bytes", Doc: "log that a checkpoint waits for at least", Default: strconv.Itoa(store.DefaultCheckpointMinBytes)},
		{Name: "checkpoint_log_ratio", Doc: "log that a checkpoint waits for, as a multiple of the last image", Default: strconv.Itoa(store.DefaultCheckpointLogRatio)},
		{Name: "log_reserve_bytes", Doc: "log that loading makes ready, so that the first transactions need not write zeros ahead of them; used again ever after; auto: what lies between two checkpoints, at most 224 MiB", Default: "auto"},
		{Name: "owner_spins", Doc: "how often the idle owner looks for work, some tens of ns apart, before its thread yields and then sleeps", Default: strconv.Itoa(store.DefaultOwnerSpins)},
	},
}

// autoLogReserveBytes is log_reserve_bytes=auto: what the log takes from one checkpoint to the end of the next.
func autoLogReserveBytes(segment, checkpointMin float64) float64 {
	return min(checkpointMin*5/4+2*segment, 7*store.DefaultLogSegmentBytes)
}

func init() { Factory.Open = open } // open asks Factory what its settings are

type engine struct {
	s        *store.Store
	settings map[string]string
}

// number reads a setting that is a number of at least least.
func number(opt engines.Options, name string, least float64) (float64, error) {
	text := Factory.Get(opt, name)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= least && v <= 1<<40) {
		return 0, fmt.Errorf("%w: engine pure: %s=%s; it must be a number of at least %v", engines.ErrSetting, name, text, least)
	}
	return v, nil
}

func open(dir string, opt engines.Options) (engines.Engine, error) {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open a store: %w", err)
	}
	return Open(d, opt)
}

// Open opens the store in d. Factory.Open does so in a directory of the operating system; tests have others.
func Open(d fs.Dir, opt engines.Options) (engines.Engine, error) {
	if err := Factory.Check(opt); err != nil {
		return nil, err
	}
	settings := map[string]string{"store_format_version": strconv.Itoa(store.FormatVersion)}
	values := map[string]float64{}
	for name, least := range map[string]float64{"log_segment_bytes": 64 << 10, "checkpoint_min_bytes": 4096, "checkpoint_log_ratio": 0.01, "owner_spins": 1} {
		v, err := number(opt, name, least)
		if err != nil {
			return nil, err
		}
		values[name] = v
		settings[name] = Factory.Get(opt, name)
	}
	if settings["log_reserve_bytes"] = Factory.Get(opt, "log_reserve_bytes"); settings["log_reserve_bytes"] == "auto" {
		values["log_reserve_bytes"] = autoLogReserveBytes(values["log_segment_bytes"], values["checkpoint_min_bytes"])
	} else {
		v, err := number(opt, "log_reserve_bytes", 0)
		if err != nil {
			return nil, err
		}
		values["log_reserve_bytes"] = v
	}
	s, err := store.Open(d, schema, store.Options{
		LogSegmentBytes:    int64(values["log_segment_bytes"]),
		CheckpointMinBytes: int64(values["checkpoint_min_bytes"]),
		CheckpointLogRatio: values["checkpoint_log_ratio"],
		LogReserveBytes:    int64(values["log_reserve_bytes"]),
		OwnerSpins:         int(values["owner_spins"]),
		Progress:           opt.Progress,
	})
	if errors.Is(err, store.ErrCorrupt) {
		return nil, fmt.Errorf("open the store in %s: %w (tpccbench dump lists all that is damaged)", d.Path(""), translate(err))
	}
	if err != nil {
		return nil, fmt.Errorf("open the store in %s: %w", d.Path(""), translate(err))
	}
	if r := s.Recovery(); r.Cut != "" {
		settings["recovery_cut"] = fmt.Sprintf("%s, offset %d: an incomplete last save was cut off", r.Cut, r.CutOffset)
	}
	if r := s.Recovery(); r.Short != "" {
		settings["recovery_short"] = fmt.Sprintf("%s is %d bytes shorter than it was made, which no crash does: saves at its end may be missing",
			r.Short, r.ShortBytes)
	}
	return &engine{s, settings}, nil
}

// translate adds the contract's error to one of the store's.
func translate(err error) error {
	for _, e := range []struct{ store, contract error }{
		{store.ErrIndeterminate, engines.ErrIndeterminate},
		{store.ErrFailed, engines.ErrFailed},
		{store.ErrCorrupt, engines.ErrCorrupt},
		{store.ErrLocked, engines.ErrLocked},
		{store.ErrNotEmpty, engines.ErrNotEmpty},
	} {
		if errors.Is(err, e.store) && !errors.Is(err, e.contract) {
			err = contractError{e.contract, err}
		}
	}
	return err
}

// contractError says what the store said and is also one of the contract's errors.
type contractError struct{ contract, err error }

func (e contractError) Error() string   { return e.err.Error() }
func (e contractError) Unwrap() []error { return []error{e.contract, e.err} }

func (e *engine) Load(rows iter.Seq[*tpcc.Row]) error {
	return translate(e.s.Load(func(l *store.Loader) error {
		for r := range rows {
			if err := addRow(l, r); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (e *engine) NewSession() (engines.Session, error) {
	s := &session{store: e.s, writes: e.s.NewSession(), reads: e.s.NewReader()}
	s.newOrder, s.payment, s.delivery = s.applyNewOrder, s.applyPayment, s.applyDelivery
	return s, nil
}

// Snapshot visits the rows of the last durable save.
func (e *engine) Snapshot(visit func(*tpcc.Row) error) error {
	r := e.s.NewReader()
	defer r.Close()
	v := r.Pin()
	var row tpcc.Row
	for _, t := range tpcc.Tables {
		cols := columns[t]
		row = tpcc.Row{Table: t}
		for c := v.Scan(store.TableID(t), 0, ^uint64(0)); c.Next(); {
			key, fields := c.Key(), c.Row()
			for i := range cols {
				row.Col[i] = cols[i].get(key, fields)
			}
			if err := visit(&row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *engine) Facts() (engines.Facts, error) {
	files, err := e.s.Files()
	if err != nil {
		return engines.Facts{}, err
	}
	st := e.s.Stats()
	f := engines.Facts{
		Commits: st.Saves, Syncs: st.Syncs, LogBytes: st.LogBytes, OwnerTID: st.OwnerTID,
		Checkpoints: st.Checkpoints, CheckpointBytes: st.CheckpointBytes, CheckpointNS: int64(st.CheckpointTime),
		BusyNS: map[string]int64{"apply": int64(st.Apply), "log": int64(st.Write), "sync": int64(st.Sync),
			"publish": int64(st.Publish), "answer": int64(st.Answer), "gather": int64(st.Gather)},
		FileBytes: map[string]int64{},
		Settings:  e.settings,
	}
	for _, file := range files {
		f.FileBytes[file.Name] = file.Bytes
	}
	return f, nil
}

func (e *engine) Close() error { return e.s.Close() }

package store

import "fmt"

// Loader fills an empty store, without a log: what it adds is made durable as an image.
type Loader struct {
	writes
	t   *table // of the open row, nil: none is open
	key uint64
	row []uint64
	tx  Tx // takes the range errors of Mut.Set
}

// Insert adds a row whose fields are 0, for setting until the next call, or reports false if the key is there already.
func (o *Loader) Insert(t TableID, key uint64) (Mut, bool) {
	if tab := o.l.tables[t]; tab.append {
		panic("store: Insert into table " + tab.name + ", which is in append order")
	}
	return o.add(t, key)
}

func (o *Loader) add(t TableID, key uint64) (Mut, bool) {
	o.close()
	tab := o.l.tables[t]
	if tab.keyBits < 64 && key>>tab.keyBits != 0 && o.tx.err == nil {
		o.tx.err = fmt.Errorf("%w: key %#x of %s has more than %d bits", ErrRange, key, tab.name, tab.keyBits)
	}
	o.row = o.insert(int(t), key)
	if o.row == nil {
		return Mut{}, false
	}
	o.v.rows[t]++
	o.t, o.key = tab, key
	return Mut{tab, o.row, &o.tx}, true
}

// Append adds a row to a table in append order, for setting until the next call.
func (o *Loader) Append(t TableID) Mut {
	if tab := o.l.tables[t]; !tab.append {
		panic("store: Append to table " + tab.name + ", which has a key")
	}
	m, _ := o.add(t, uint64(o.v.arrivals[t]))
	o.v.arrivals[t]++
	return m
}

// close completes the open row.
func (o *Loader) close() {
	if o.t == nil {
		return
	}
	for _, ix := range o.t.indexes {
		if o.insert(ix.trie, ix.key(o.t, o.key, o.row)) == nil && o.tx.err == nil {
			o.tx.err = fmt.Errorf("index %s of table %s is not unique", ix.name, o.t.name)
		}
	}
	o.t = nil
}

// Load has fill add rows to an empty store and returns when they are durable; it fails with ErrNotEmpty on any other
// store. A Load that fails fails the store, and nothing of it is left when it is opened again, or all of
// it if the error wraps ErrIndeterminate. fill runs on the owner goroutine.
func (s *Store) Load(fill func(*Loader) error) error {
	return s.control(func() error {
		for i, n := range s.work.rows {
			if n > 0 {
				return fmt.Errorf("%w: table %s has %d rows", ErrNotEmpty, s.layout.tables[i].name, n)
			}
		}
		o := &Loader{writes: s.tx.writes}
		err := fill(o)
		o.close()
		if err == nil {
			err = o.tx.err
		}
		if err != nil {
			s.fail(err, false)
			return err
		}
		if err := s.log.reserve(s.opt.LogReserveBytes); err != nil {
			return s.fail(err, false)
		}
		s.work.sequence++
		bytes, err := s.putImage(s.work, unpaced())
		if err != nil {
			return s.fail(err, false)
		}
		if err := s.log.install(s.work.sequence, s.spares()); err != nil {
			return s.fail(err, true)
		}
		s.checkpoints.imageBytes.Store(bytes)
		s.checkpoints.logBytes = 0
		s.publish()
		return nil
	})
}

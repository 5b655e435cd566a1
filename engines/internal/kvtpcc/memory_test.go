package kvtpcc

import (
	"errors"
	"slices"
)

// memory is a Tx over a sorted map. It counts writes; failAfter, if it is not 0, is the number of the write that fails.
type memory struct {
	keys      []string
	values    map[string]string
	writes    int
	failAfter int
}

var errFull = errors.New("the store is full")

func newMemory() *memory { return &memory{values: map[string]string{}} }

func (m *memory) Get(key []byte) ([]byte, error) {
	v, ok := m.values[string(key)]
	if !ok {
		return nil, nil
	}
	return []byte(v), nil
}

func (m *memory) Scan(from, to []byte, visit func(key, value []byte) bool) error {
	i, _ := slices.BinarySearch(m.keys, string(from))
	for ; i < len(m.keys) && m.keys[i] < string(to); i++ {
		if !visit([]byte(m.keys[i]), []byte(m.values[m.keys[i]])) {
			break
		}
	}
	return nil
}

func (m *memory) Set(key, value []byte) error {
	if m.writes++; m.writes == m.failAfter {
		return errFull
	}
	if i, found := slices.BinarySearch(m.keys, string(key)); !found {
		m.keys = slices.Insert(m.keys, i, string(key))
	}
	m.values[string(key)] = string(value)
	return nil
}

func (m *memory) Delete(key []byte) error {
	m.writes++
	if i, found := slices.BinarySearch(m.keys, string(key)); found {
		m.keys = slices.Delete(m.keys, i, i+1)
	}
	delete(m.values, string(key))
	return nil
}

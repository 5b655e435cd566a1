package kvtpcc

import "sync"

// Locks are one lock per warehouse, for adapters of stores that keep transactions apart by themselves badly or not at
// all. A transaction locks what Warehouses names before its first read: that is ascending and without duplicates, so
// that no two transactions wait for each other. The zero value is ready.
type Locks struct {
	mu         sync.RWMutex
	warehouses map[int32]*sync.Mutex
}

// Lock locks the warehouses, which are ascending and without duplicates.
func (l *Locks) Lock(warehouses []int32) {
	for _, w := range warehouses {
		l.of(w).Lock()
	}
}

// Unlock unlocks what Lock has locked.
func (l *Locks) Unlock(warehouses []int32) {
	for _, w := range warehouses {
		l.of(w).Unlock()
	}
}

// of returns a warehouse's lock.
func (l *Locks) of(w int32) *sync.Mutex {
	l.mu.RLock()
	lock := l.warehouses[w]
	l.mu.RUnlock()
	if lock != nil {
		return lock
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if lock = l.warehouses[w]; lock == nil {
		if l.warehouses == nil {
			l.warehouses = map[int32]*sync.Mutex{}
		}
		lock = new(sync.Mutex)
		l.warehouses[w] = lock
	}
	return lock
}

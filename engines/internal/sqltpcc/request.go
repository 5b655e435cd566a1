package sqltpcc

// #include <stdlib.h>
// #include "sqltpcc.h"
import "C"

import (
	"fmt"
	"unsafe"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// Request is one transaction on its way into C and back. It lies in memory of C's and is used again and again by one
// session.
type Request struct{ c *C.struct_tpcc_request }

// NewRequest makes a request, to be freed by Free.
func NewRequest() *Request {
	r := &Request{c: (*C.struct_tpcc_request)(C.malloc(C.sizeof_struct_tpcc_request))} // never nil
	*r.c = C.struct_tpcc_request{}
	return r
}

// Free gives the request's memory back.
func (r *Request) Free() { C.free(unsafe.Pointer(r.c)) }

// Type is the transaction's type.
func (r *Request) Type() tpcc.Type { return tpcc.Type(r.c._type) }

// Outcome is the error of a request that C has carried out, or nil. An indeterminate COMMIT makes the store fail.
func (s *Store) Outcome(r *Request) error {
	rc := C.int(r.c.rc)
	if rc == C.SQLITE_OK {
		return nil
	}
	message := C.GoString(&r.c.message[0])
	switch {
	case rc == C.TPCC_UNKNOWN:
		return fmt.Errorf("%s: %s", r.Type(), message)
	case r.c.in_commit != 0 && rc&0xff != C.SQLITE_FULL && rc != C.SQLITE_IOERR_WRITE:
		// The commit record may be in the file, whole, and never have been synced. A commit whose write failed is not
		// in there whole, so that one did not happen.
		return s.fail(fmt.Errorf("%w: %s: COMMIT in %s: %s (SQLite code %d)", engines.ErrIndeterminate, r.Type(), s.path,
			message, int(rc)))
	}
	return fmt.Errorf("%s: %w", r.Type(), s.failure(rc, message))
}

// Refuses is the error of a write to a store that has failed, or nil.
func (s *Store) Refuses(r *Request) error {
	if r.Type().ReadOnly() {
		return nil
	}
	if failed := s.failed.Load(); failed != nil {
		return fmt.Errorf("%w: %s: open it again; its first failure: %w", engines.ErrFailed, s.path, failed.err)
	}
	return nil
}

// failedBy is the error after which a store takes no more writes.
type failedBy struct{ err error }

// fail makes the store take no more writes; it returns err.
func (s *Store) fail(err error) error {
	s.failed.CompareAndSwap(nil, &failedBy{err})
	return err
}

// Group is a list of requests that share a commit. It is used again and again by one writer.
type Group struct {
	requests []*C.struct_tpcc_request // in memory of C's
	n        int
}

// Add puts r into the group.
func (g *Group) Add(r *Request) {
	if g.n == len(g.requests) {
		grown := newRequests(max(64, 2*g.n))
		copy(grown, g.requests)
		g.Free()
		g.requests = grown
	}
	g.requests[g.n] = r.c
	g.n++
}

// newRequests is an array of n pointers in memory of C's.
func newRequests(n int) []*C.struct_tpcc_request {
	size := C.size_t(n) * C.size_t(unsafe.Sizeof((*C.struct_tpcc_request)(nil)))
	return unsafe.Slice((**C.struct_tpcc_request)(C.malloc(size)), n)
}

// Clear takes all requests out.
func (g *Group) Clear() { g.n = 0 }

// Free gives the group's own memory back.
func (g *Group) Free() {
	C.free(unsafe.Pointer(unsafe.SliceData(g.requests)))
	g.requests = nil
}

// RunGroup runs all requests of g, at least one, in one transaction with one COMMIT, in their order; each session then
// asks Outcome for its own. One that fails or rolls back takes only its own work back, with its SAVEPOINT. If
// savepointAll is false only New-Order has one; should another transaction fail, the whole group is rolled back and run
// again with a SAVEPOINT for all that write. If SQLite gives up the whole transaction or its COMMIT fails, all of them
// fail.
func (c *Conn) RunGroup(g *Group, savepointAll bool) {
	savepoints := uint32(C.TPCC_SAVEPOINT_NEED)
	if savepointAll {
		savepoints = C.TPCC_SAVEPOINT_ALL
	}
	C.tpcc_run_group(c.c, unsafe.SliceData(g.requests), C.int(g.n), savepoints)
}

package badger

import (
	"fmt"
	"strings"
	"sync/atomic"
)

// log is where Badger's log goes: nowhere, but for the lines that tell of a failed write or sync, of which Badger tells
// in no other way. The first of them is the store's failure.
type log struct{ failure atomic.Pointer[error] }

// failures are how those lines begin: a value log that was not synced, a group that was not written or whose WAL was
// not synced, a memtable that cannot be flushed.
var failures = []string{"Error while curlf sync", "writeRequests", "error flushing memtable"}

func (l *log) Errorf(format string, args ...any) {
	for _, beginning := range failures {
		if strings.HasPrefix(format, beginning) {
			l.fail(fmt.Errorf("Badger: "+strings.TrimSpace(format), args...))
		}
	}
}
func (*log) Warningf(string, ...any) {}
func (*log) Infof(string, ...any)    {}
func (*log) Debugf(string, ...any)   {}

// fail keeps the first failure.
func (l *log) fail(err error) { l.failure.CompareAndSwap(nil, &err) }

// failed returns the first failure, or nil.
func (l *log) failed() error {
	if err := l.failure.Load(); err != nil {
		return *err
	}
	return nil
}

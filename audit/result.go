package audit

import (
	"tpccbench/engines"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// Result is what an audit found. It has passed if there are no Violations and Run returned no error.
type Result struct {
	Kills        []Kill               `json:"kills"`
	Acknowledged [tpcc.NumTypes]int64 `json:"acknowledged"` // writes, by type, over all lives; rollbacks and reads are 0
}

// Kill is one life and its end.
type Kill struct {
	Life int `json:"life"` // from 1
	// WhileOpening: it was killed AfterNS after its start, ready or not; else AfterNS after it was ready, or when it had
	// reached Config.MinWrites if that was later.
	WhileOpening bool                 `json:"while_opening"`
	AfterNS      int64                `json:"after_ns"`
	OpenNS       int64                `json:"open_ns"` // from start to ready; 0: it was not ready
	Acknowledged [tpcc.NumTypes]int64 `json:"acknowledged"`
	// Facts are the engine's after it was opened again; what it recovered or cut off is among them where it tells.
	Facts      engines.Facts           `json:"facts"`
	ReopenNS   int64                   `json:"reopen_ns"`
	Violations []consistency.Violation `json:"violations"`
}

// Violations lists those of all kills. There is at most one kill with violations: the last.
func (r *Result) Violations() []consistency.Violation {
	var list []consistency.Violation
	for i := range r.Kills {
		list = append(list, r.Kills[i].Violations...)
	}
	return list
}

// Writes is the number of acknowledged writes.
func (r *Result) Writes() int64 {
	n := int64(0)
	for _, of := range r.Acknowledged {
		n += of
	}
	return n
}

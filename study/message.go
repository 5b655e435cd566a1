package study

import (
	"encoding/json"

	"tpccbench/record"
)

// ChildCommand is the hidden command under which the program starts itself to measure.
const ChildCommand = "measure-child"

// The operations of a request.
const (
	opLoad  = "load"  // load the population into Dir
	opRun   = "run"   // run Spec on the loaded data in Dir
	opEqual = "equal" // run the same serial transactions through Equal.Engines in folders of Dir
)

// request is what a parent asks of a child: one JSON line.
type request struct {
	Op      string        `json:"op"`
	WorkDir string        `json:"work_dir"` // removed by the child if the parent dies
	Dir     string        `json:"dir"`
	Spec    record.Spec   `json:"spec"`
	Equal   *EqualOptions `json:"equal,omitempty"`
	Server  *place        `json:"server,omitempty"` // of a run over HTTP: where its server runs
}

// place is where the child runs; for a run over HTTP, in which it is the terminals' process, it also says where its
// server does.
func (req *request) place() (at place, err error) {
	if req.Op != opRun || req.Spec.InProcess() {
		return placeOf("")
	}
	server, err := placeOf(req.Spec.CPUs)
	if err != nil {
		return at, err
	}
	req.Server = &server
	return placeOf(req.Spec.LoadCPUs)
}

// message is one JSON line of a child: progress or, last, the answer.
type message struct {
	Live   *Live   `json:"live,omitempty"`
	Answer *answer `json:"answer,omitempty"`
}

// Live is the progress of a child.
type Live struct {
	Step         string  `json:"step"` // loading, running, checking, ...
	Seconds      float64 `json:"seconds"`
	Transactions int64   `json:"transactions"`
	PerSecond    float64 `json:"per_second"`        // in the second that just ended
	Backlog      int64   `json:"backlog,omitempty"` // of an open loop: transactions that are due while no terminal is free
}

// answer is what a child returns. Error is set when there is no result at all.
type answer struct {
	Error       string            `json:"error,omitempty"`
	Interrupted bool              `json:"interrupted,omitempty"`
	OutOfSpace  bool              `json:"out_of_space,omitempty"` // the device was full, which says nothing of the engine
	Run         *record.Run       `json:"run,omitempty"`
	Gate        *record.EqualGate `json:"gate,omitempty"`
	Machine     json.RawMessage   `json:"machine,omitempty"`
}

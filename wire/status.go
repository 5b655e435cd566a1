package wire

import (
	"os"
	"runtime"

	"github.com/go-json-experiment/json"

	"tpccbench/engines"
	"tpccbench/procsample"
)

// Status is what a server says of itself, the answer to GET /v1/status: what only it can know. What /proc tells of its
// process is for others to read.
type Status struct {
	Facts      engines.Facts // of the engine
	GC         procsample.GC // of the server's process
	GOMAXPROCS int           // of the server's process
	PID        int
}

// statusBody is a Status in JSON.
type statusBody struct {
	Facts      factsBody        `json:"facts"`
	GCCPUNS    procsample.Value `json:"gc_cpu_ns"`
	GCCycles   procsample.Value `json:"gc_cycles"`
	GOMAXPROCS int              `json:"gomaxprocs"`
	PID        int              `json:"pid"`
}

// factsBody is engines.Facts with names for JSON.
type factsBody struct {
	Commits         int64             `json:"commits"`
	Syncs           int64             `json:"syncs"`
	Checkpoints     int64             `json:"checkpoints"`
	CheckpointBytes int64             `json:"checkpoint_bytes"`
	CheckpointNS    int64             `json:"checkpoint_ns"`
	LogBytes        int64             `json:"log_bytes"`
	TempBytes       int64             `json:"temp_bytes"`
	OwnerTID        int               `json:"owner_tid"`
	BusyNS          map[string]int64  `json:"busy_ns,omitempty"`
	FileBytes       map[string]int64  `json:"file_bytes"`
	Settings        map[string]string `json:"settings"`
}

// statusOf is the status of this process as the server of the engine.
func statusOf(e engines.Engine) (*Status, error) {
	f, err := e.Facts()
	if err != nil {
		return nil, err
	}
	s := &Status{Facts: f, GOMAXPROCS: runtime.GOMAXPROCS(0), PID: os.Getpid()}
	if sys, err := procsample.Linux(); err == nil {
		s.GC = sys.Self().GC()
	} else {
		s.GC.CPUNS.Reason = err.Error()
		s.GC.Cycles = s.GC.CPUNS
	}
	return s, nil
}

func (s *Status) body() ([]byte, error) {
	return json.Marshal(&statusBody{factsBody(s.Facts), s.GC.CPUNS, s.GC.Cycles, s.GOMAXPROCS, s.PID}, json.Deterministic(true))
}

func parseStatus(body []byte) (*Status, error) {
	var b statusBody
	if err := json.Unmarshal(body, &b); err != nil {
		return nil, err
	}
	return &Status{engines.Facts(b.Facts), procsample.GC{CPUNS: b.GCCPUNS, Cycles: b.GCCycles}, b.GOMAXPROCS, b.PID}, nil
}

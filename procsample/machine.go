package procsample

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine is what a result says about where it was obtained. It names no host and no user.
type Machine struct {
	CPUModel string `json:"cpu_model"`       // empty: see Reasons["cpu_model"]
	Board    string `json:"board,omitempty"` // of a single-board computer; empty elsewhere
	// CPUGovernor is how the clock rate is chosen, of the first core; empty: see Reasons["cpu_governor"].
	CPUGovernor string `json:"cpu_governor,omitempty"`
	Cores       Value  `json:"cores"`        // that are switched on, hyper-threads among them
	CoresUsable int    `json:"cores_usable"` // that this process may run on
	GOMAXPROCS  int    `json:"gomaxprocs"`   // that Go code runs on at a time

	MemoryBytes Value `json:"memory_bytes"`
	// MemoryAvailableBytes is what could still be used when this was read: see System.MemoryAvailable.
	MemoryAvailableBytes Value `json:"memory_available_bytes"`
	SwapBytes            Value `json:"swap_bytes"`
	Limits

	Kernel string `json:"kernel"` // release: 6.12.34-v8+
	OS     string `json:"os"`     // as Go says
	Arch   string `json:"arch"`   // as Go says
	Go     string `json:"go"`     // version

	Reasons map[string]string `json:"reasons,omitempty"` // why a text is missing, by its key
}

// Machine reads the facts of the machine.
func (s *System) Machine() Machine {
	m := Machine{
		CoresUsable: runtime.NumCPU(),
		GOMAXPROCS:  runtime.GOMAXPROCS(0),

		MemoryAvailableBytes: s.MemoryAvailable(),
		Limits:               s.Limits(),

		OS:   runtime.GOOS,
		Arch: runtime.GOARCH,
		Go:   runtime.Version(),
	}
	missing := func(key string, err error) {
		if m.Reasons == nil {
			m.Reasons = map[string]string{}
		}
		m.Reasons[key] = err.Error()
	}

	if data, err := os.ReadFile(s.path("proc/cpuinfo")); err != nil {
		m.Cores = unread(err)
		missing("cpu_model", err)
	} else {
		info := parseCPUInfo(string(data))
		if m.Cores = (Value{N: info.cores}); info.cores == 0 {
			m.Cores = absent("cpuinfo lists no cores")
		}
		if m.CPUModel, m.Board = info.model, info.board; m.CPUModel == "" {
			missing("cpu_model", fmt.Errorf("cpuinfo does not tell the CPU's model"))
		}
	}
	var err error
	if m.CPUGovernor, err = s.line("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); err != nil {
		missing("cpu_governor", err)
	}

	if info, err := s.proc.Meminfo(); err != nil {
		m.MemoryBytes, m.SwapBytes = absent("meminfo: %v", err), absent("meminfo: %v", err)
	} else {
		size := func(name string, bytes *uint64) Value {
			if bytes == nil {
				return absent("meminfo has no %s", name)
			}
			return measured(*bytes)
		}
		m.MemoryBytes = size("MemTotal", info.MemTotalBytes)
		m.SwapBytes = size("SwapTotal", info.SwapTotalBytes)
	}

	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		missing("kernel", fmt.Errorf("uname: %w", err))
	} else {
		m.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	return m
}

type cpuInfo struct {
	model string // "" if it does not say
	board string
	cores int64
}

// parseCPUInfo reads /proc/cpuinfo, which has different keys on each architecture (procfs reads only those of the one
// it is built for, and no model on 64-bit ARM). x86 has "model name" for each core; ARM has numbers of the maker and
// the part for each core and, on single-board computers, "Model" of the board at the end.
func parseCPUInfo(text string) cpuInfo {
	var info cpuInfo
	var implementer, part string
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch key {
		case "processor":
			info.cores++
		case "model name":
			info.model = value
		case "CPU implementer":
			implementer = value
		case "CPU part":
			part = value
		case "Model":
			info.board = value
		}
	}
	if info.model == "" && implementer != "" && part != "" {
		info.model = "CPU implementer " + implementer + " part " + part
	}
	return info
}

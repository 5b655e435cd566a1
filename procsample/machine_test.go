package procsample

import (
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestMachine(t *testing.T) {
	f := newFixture(t, "system.txtar")
	m := f.Machine()
	if m.CPUModel != "CPU implementer 0x41 part 0xd08" || m.Board != "Raspberry Pi 4 Model B Rev 1.5" || m.CPUGovernor != "ondemand" {
		t.Errorf("CPU %q, board %q, governor %q", m.CPUModel, m.Board, m.CPUGovernor)
	}
	has(t, "cores", m.Cores, 2)
	has(t, "memory", m.MemoryBytes, 7999452*1024)
	has(t, "swap", m.SwapBytes, 102396*1024)
	has(t, "available", m.MemoryAvailableBytes, 4<<30-800000000)
	has(t, "CPU limit", m.CPUMillicores, 3500)
	has(t, "memory limit", m.Limits.MemoryBytes, 4<<30)
	if m.Go != runtime.Version() || m.Kernel == "" || len(m.Reasons) != 0 {
		t.Errorf("Go %q, kernel %q, reasons %v", m.Go, m.Kernel, m.Reasons)
	}

	for _, file := range []string{"proc/cpuinfo", "proc/meminfo", "sys/devices/system/cpu"} {
		f.remove(t, file)
	}
	m = f.Machine()
	lacks(t, "cores", m.Cores, "no such file")
	lacks(t, "memory", m.MemoryBytes, "meminfo: ")
	lacks(t, "swap", m.SwapBytes, "meminfo: ")
	for _, key := range []string{"cpu_model", "cpu_governor"} {
		if !strings.Contains(m.Reasons[key], "no such file") {
			t.Errorf("the reason for no %s is %q", key, m.Reasons[key])
		}
	}

	f.set(t, "proc/cpuinfo", "nothing\n")
	f.set(t, "proc/meminfo", "MemFree: 1 kB\n")
	m = f.Machine()
	lacks(t, "cores", m.Cores, "lists no cores")
	lacks(t, "memory", m.MemoryBytes, "no MemTotal")
	if m.Reasons["cpu_model"] == "" {
		t.Error("no reason for no cpu_model")
	}
}

// Results are published: they name no host.
func TestMachineNamesNoHost(t *testing.T) {
	host, err := os.Hostname()
	if err != nil || len(host) < 4 {
		t.Skipf("host name %q is too short to look for (%v)", host, err)
	}
	data, err := json.Marshal(linux(t).Machine())
	mustDo(t, err)
	if strings.Contains(string(data), host) {
		t.Errorf("the host's name %q is in %s", host, data)
	}
}

func TestParseCPUInfo(t *testing.T) {
	x86 := "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\nmodel name\t: AMD EPYC\n"
	if got := parseCPUInfo(x86); got != (cpuInfo{model: "AMD EPYC", cores: 2}) {
		t.Errorf("x86: %+v", got)
	}
	arm32 := "processor\t: 0\nmodel name\t: ARMv7 Processor rev 3 (v7l)\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\n" +
		"Hardware\t: BCM2711\nModel\t\t: Raspberry Pi 4 Model B Rev 1.1\n"
	want := cpuInfo{model: "ARMv7 Processor rev 3 (v7l)", board: "Raspberry Pi 4 Model B Rev 1.1", cores: 1}
	if got := parseCPUInfo(arm32); got != want {
		t.Errorf("32-bit ARM: %+v, want %+v", got, want)
	}
}

func FuzzParseCPUInfo(f *testing.F) {
	f.Add("processor\t: 0\nmodel name\t: AMD EPYC\n")
	f.Add("CPU implementer: 0x41\nCPU part: 0xd08\nModel: x")
	f.Add(":\n::\n")
	f.Fuzz(func(t *testing.T, text string) {
		info := parseCPUInfo(text)
		if info.cores < 0 || info.cores > int64(strings.Count(text, "processor")) {
			t.Fatalf("%q has %d cores", text, info.cores)
		}
		if strings.ContainsAny(info.model+info.board, "\n") {
			t.Fatalf("%q gave a name of two lines: %+v", text, info)
		}
	})
}

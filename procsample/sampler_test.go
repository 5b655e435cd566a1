package procsample

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// run is a fixture whose process uses CPU, with a sampler on it.
func run(t *testing.T) (*fixture, *Sampler, *int64) {
	f := newFixture(t, "system.txtar")
	cpu := new(int64)
	f.cpuClock = func(pid int) (int64, error) { return *cpu, nil }
	f.switches = func(pid int) (int64, int64, error) { return 10 + *cpu/1e9, 20 + 2**cpu/1e9, nil }
	f.gc = func(pid int) (int64, int64, error) { return *cpu / 20, *cpu / 1e9, nil }
	s := f.NewSampler(Config{PID: 4242, OwnerTID: 4250, DataDir: "/home/pi/run", TempDir: "/var/tmp"})
	return f, s, cpu
}

// Between two samples every figure is the difference of what the files said, in the unit of its name.
func TestSamplerDelta(t *testing.T) {
	f, s, cpu := run(t)
	mustDo(t, s.ResetPeak())
	*cpu = 3e9
	before := s.Take()

	*cpu = 5e9
	f.set(t, "proc/4242/task/4250/schedstat", "6500000000 70000 900\n")
	f.set(t, "proc/4242/status", "VmHWM:\t500000 kB\nVmRSS:\t250000 kB\n")
	f.set(t, "proc/4242/io", strings.NewReplacer("4096000", "4096512", "8192", "8193").Replace(f.text("proc/4242/io"))+"\n")
	f.set(t, "proc/diskstats", strings.NewReplacer(" 900 ", " 905 ", " 898 ", " 901 ", " 63992 ", " 64002 ", " 12 4", " 19 4").
		Replace(f.text("proc/diskstats")))
	f.set(t, "proc/stat", "cpu  1800 100 500 8100 200 10 40 250 0 0\nctxt 500123\n")
	f.set(t, "proc/pressure/io", "some avg10=0.09 avg60=0.02 avg300=0.02 total=1292029\n")
	after := s.Take()
	after.At = before.At.Add(2 * time.Second)

	d := after.Sub(before)
	if d.WallNS != 2e9 {
		t.Errorf("wall is %d ns", d.WallNS)
	}
	has(t, "CPU", d.CPUNS, 2e9)
	has(t, "owner's CPU", d.OwnerCPUNS, 15e8)
	has(t, "garbage collector's CPU", d.GCCPUNS, 1e8)
	has(t, "collections", d.GCCycles, 2)
	has(t, "resident", d.ResidentBytes, 250000*1024)
	has(t, "peak", d.PeakResidentBytes, 500000*1024)
	has(t, "write_bytes", d.WriteBytes, 512)
	has(t, "cancelled", d.CancelledWriteBytes, 1)
	has(t, "device bytes", d.DeviceBytes, 10*512)
	has(t, "device writes", d.DeviceWrites, 3)
	has(t, "device flushes", d.DeviceFlushes, 7)
	has(t, "temporary device's bytes", d.TempDeviceBytes, 10*512)
	has(t, "temporary device's writes", d.TempDeviceWrites, 3)
	has(t, "temporary device's flushes", d.TempDeviceFlushes, 7)
	has(t, "voluntary switches", d.VoluntarySwitches, 2)
	has(t, "forced switches", d.ForcedSwitches, 4)
	has(t, "system's switches", d.SystemSwitches, 123)
	has(t, "PSI CPU", d.PSICPUUS, 0)
	has(t, "PSI IO", d.PSIIOUS, 500000)
	has(t, "PSI memory", d.PSIMemoryUS, 0)
	for what, c := range map[string]struct {
		got  Share
		want float64
	}{"steal": {d.StealShare, 0.1}, "owner": {d.OwnerShare(), 0.75}, "GC": {d.GCShare(), 0.05}, "PSI IO": {d.PSIShare(d.PSIIOUS), 0.25}} {
		if !c.got.OK() || c.got.F != c.want {
			t.Errorf("share of %s is %+v, want %g", what, c.got, c.want)
		}
	}

	data, err := json.Marshal(d)
	mustDo(t, err)
	var back Delta
	mustDo(t, json.Unmarshal(data, &back))
	if back != d {
		t.Errorf("from JSON came %+v, want %+v", back, d)
	}
}

// A counter that went backwards, and a run in which nothing could be read, leave reasons everywhere and no 0.
func TestSamplerAbsent(t *testing.T) {
	f, s, cpu := run(t)
	*cpu = 3e9
	before := s.Take()
	*cpu = 2e9
	f.set(t, "proc/diskstats", strings.ReplaceAll(f.text("proc/diskstats"), " 63992 ", " 2 "))
	d := s.Take().Sub(before)
	lacks(t, "CPU", d.CPUNS, "went backwards")
	lacks(t, "device bytes", d.DeviceBytes, "went backwards")
	lacks(t, "peak", d.PeakResidentBytes, "was not reset")
	f.remove(t, "proc/4242/clear_refs")
	if s.ResetPeak() == nil {
		t.Error("the peak was reset without clear_refs")
	}
	lacks(t, "peak", s.Take().Memory.Peak, "cannot be reset")

	for _, file := range []string{"4242", "stat", "pressure", "diskstats"} {
		f.remove(t, "proc/"+file)
	}
	none := newFixture(t, "system.txtar") // its process has no CPU clock, switches or collector
	f.cpuClock, f.switches, f.gc = none.cpuClock, none.switches, none.gc
	empty := s.Take()
	for what, d := range map[string]Delta{"after": empty.Sub(before), "before": before.Sub(empty), "both": empty.Sub(empty)} {
		v := reflect.ValueOf(d)
		for i := range v.NumField() {
			switch figure := v.Field(i).Interface().(type) {
			case Value:
				name := v.Type().Field(i).Name
				// What is resident is of the later sample alone.
				if figure.OK() && !(what == "before" && name == "ResidentBytes") {
					t.Errorf("%s: %s is %d, want none", what, name, figure.N)
				}
			case Share:
				if figure.OK() {
					t.Errorf("%s: %s is %g, want none", what, v.Type().Field(i).Name, figure.F)
				}
			}
		}
	}
}

// Without an owner's thread or directories there is a reason.
func TestSamplerWithout(t *testing.T) {
	f := newFixture(t, "system.txtar")
	s := f.NewSampler(Config{PID: 4242}).Take()
	lacks(t, "owner", s.OwnerCPU, "no owner thread")
	lacks(t, "device", s.Data.WriteBytes, "no data directory")
	lacks(t, "temporary device", s.Temp.WriteBytes, "no temporary directory")
	has(t, "resident", s.Memory.Resident, 200000*1024)
}

// A series has one point per interval and one for what is left at its end, each with what its interval saw.
func TestSeries(t *testing.T) {
	f, s, cpu := run(t)
	synctest.Test(t, func(t *testing.T) {
		read := int64(0) // by a counter that goes up by 7 with each reading, and one that cannot be read
		series := s.StartSeries(time.Second, func() []Value { read += 7; return []Value{{N: read}, {Reason: "no such counter"}} })
		step := func(wait time.Duration, ns int64, sectors string) {
			time.Sleep(wait)
			synctest.Wait()
			*cpu += ns
			f.set(t, "proc/diskstats", strings.ReplaceAll(f.text("proc/diskstats"), " 63992 ", " "+sectors+" "))
		}
		step(500*time.Millisecond, 1e8, "63994")
		step(time.Second, 2e8, "63999")
		step(time.Second, 4e8, "1")
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		points := series.Stop()
		if len(points) != 3 {
			t.Fatalf("%d points, want 3: %+v", len(points), points)
		}
		for i, want := range []struct{ elapsed, cpu, bytes int64 }{{1e9, 1e8, 1024}, {2e9, 2e8, 5 * 512}, {26e8, 4e8, -1}} {
			p := points[i]
			if p.ElapsedNS != want.elapsed {
				t.Errorf("point %d is at %d ns, want %d", i, p.ElapsedNS, want.elapsed)
			}
			has(t, "CPU", p.CPUNS, want.cpu)
			if len(p.Counters) != 2 {
				t.Fatalf("point %d has %d counters, want 2", i, len(p.Counters))
			}
			has(t, "counter", p.Counters[0], 7)
			lacks(t, "counter", p.Counters[1], "no such counter")
			has(t, "resident", p.ResidentBytes, 200000*1024)
			if want.bytes < 0 {
				lacks(t, "device bytes", p.DeviceBytes, "went backwards")
			} else {
				has(t, "device bytes", p.DeviceBytes, want.bytes)
			}
		}
		if again := series.Stop(); len(again) != 3 {
			t.Errorf("a second Stop gave %d points, want the same 3", len(again))
		}
	})
}

// A series that is stopped at once, or right at a tick, has no empty interval.
func TestSeriesStopsAtTick(t *testing.T) {
	_, s, _ := run(t)
	synctest.Test(t, func(t *testing.T) {
		if points := s.StartSeries(time.Second, nil).Stop(); len(points) != 0 {
			t.Errorf("points of no time: %+v", points)
		}
		series := s.StartSeries(time.Second, nil)
		time.Sleep(time.Second)
		synctest.Wait()
		if points := series.Stop(); len(points) != 1 || points[0].ElapsedNS != 1e9 {
			t.Errorf("got %+v, want one point at 1 s", points)
		}
	})
}

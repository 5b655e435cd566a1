package procsample

import "testing"

func TestPressure(t *testing.T) {
	f := newFixture(t, "system.txtar")
	p := f.Pressure()
	has(t, "cpu", p.CPU, 5813445)
	has(t, "io", p.IO, 792029)
	has(t, "memory", p.Memory, 10)

	f.remove(t, "proc/pressure/cpu")
	f.set(t, "proc/pressure/io", "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")
	f.set(t, "proc/pressure/memory", "some avg10=?\n")
	p = f.Pressure()
	lacks(t, "cpu", p.CPU, "no such file")
	lacks(t, "io", p.IO, "no some line")
	if p.Memory.OK() {
		t.Errorf("memory is %v from a line that says nothing", p.Memory)
	}
}

func TestCores(t *testing.T) {
	f := newFixture(t, "system.txtar")
	c := f.Cores()
	has(t, "steal", c.StealNS, 150*1e7)
	has(t, "total", c.TotalNS, 10000*1e7)
	has(t, "switches", c.Switches, 500000)

	f.set(t, "proc/stat", "ctxt 5\n")
	c = f.Cores()
	lacks(t, "steal", c.StealNS, "no times")
	lacks(t, "total", c.TotalNS, "no times")
	has(t, "switches", c.Switches, 5)

	f.set(t, "proc/stat", "cpu  1 0 0 0 0 0 0 0 0 0\n")
	has(t, "total", f.Cores().TotalNS, 1e7)
	lacks(t, "switches", f.Cores().Switches, "no context switches")

	f.remove(t, "proc/stat")
	c = f.Cores()
	lacks(t, "steal", c.StealNS, "stat: ")
	lacks(t, "total", c.TotalNS, "stat: ")
	lacks(t, "switches", c.Switches, "stat: ")
}

func TestSecondsRange(t *testing.T) {
	has(t, "1.5 s", seconds(1.5), 15e8)
	lacks(t, "-1 s", seconds(-1), "out of range")
	lacks(t, "1e12 s", seconds(1e12), "out of range")
}

// The loop does the same work every time; Calibrate panics if it does not. Its time is not a matter of a test.
func TestCalibrate(t *testing.T) {
	for range 2 {
		if ns := Calibrate(); ns <= 0 {
			t.Errorf("the calibration took %d ns", ns)
		}
	}
}

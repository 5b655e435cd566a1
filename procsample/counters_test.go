package procsample

import "testing"

// A device counts once, two directories on one disk are seen to share it, and a memory file system shares nothing.
func TestDeviceShares(t *testing.T) {
	f := newFixture(t, "system.txtar")
	data, temp, shm := f.DeviceOf("/home/pi/run"), f.DeviceOf("/var/tmp"), f.DeviceOf("/dev/shm")
	if !data.Shares(temp) || data.Shares(shm) || shm.Shares(shm) {
		t.Errorf("shares: %v %v %v, want true false false", data.Shares(temp), data.Shares(shm), shm.Shares(shm))
	}
	if data.InMemory() || !shm.InMemory() {
		t.Errorf("in memory: %v %v, want false true", data.InMemory(), shm.InMemory())
	}
	if data.Name() != "mmcblk0p2" || shm.Name() != "none" {
		t.Errorf("names are %s and %s, want mmcblk0p2 and none", data.Name(), shm.Name())
	}
	partition := Device{On: []string{"sda1"}, Disks: []string{"sda"}}
	disk := Device{On: []string{"sda"}, Disks: []string{"sda"}}
	if !partition.Shares(disk) || !disk.Shares(partition) {
		t.Error("a partition and its disk do not share")
	}
}

func TestCountersUnreadable(t *testing.T) {
	f := newFixture(t, "system.txtar")
	d := f.DeviceOf("/home/pi/run")
	for text, reason := range map[string]string{
		"what is this\n": "diskstats: ",
		"":               "diskstats has no mmcblk0p2",
		" 179 2 mmcblk0p2 1 1 1 1 1 1 36028797018963968 1 1 1 1 1 1 1 1 0 0\n": "out of range",
	} {
		f.set(t, "proc/diskstats", text)
		lacks(t, "bytes", f.Counters(d).WriteBytes, reason)
	}
	f.remove(t, "proc/diskstats")
	c := f.Counters(d)
	lacks(t, "bytes", c.WriteBytes, "no such file")
	lacks(t, "writes", c.Writes, "no such file")
	lacks(t, "flushes", c.Flushes, "no such file")
}

func FuzzParseSectors(f *testing.F) {
	for _, seed := range []string{"0", "124735488", "36028797018963968", "-1", "", "1 2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if v := parseSectors(text); v.OK() && (v.N < 0 || v.N%512 != 0) || !v.OK() && v.N != 0 {
			t.Fatalf("%q gave %+v", text, v)
		}
	})
}

func TestChosen(t *testing.T) {
	for list, want := range map[string]string{
		"none [mq-deadline] kyber": "mq-deadline", "[none]": "none", "none": "none", "": "", "none kyber": "", "[]": "", "[": "",
	} {
		if got := chosen(list); got != want {
			t.Errorf("%q: %q, want %q", list, got, want)
		}
	}
}

func FuzzChosen(f *testing.F) {
	f.Add("none [mq-deadline] kyber")
	f.Add("[")
	f.Fuzz(func(t *testing.T, list string) {
		if got := chosen(list); len(got) > len(list) {
			t.Fatalf("%q gave %q", list, got)
		}
	})
}

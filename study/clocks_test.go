package study

import (
	"testing"
	"time"
)

// TestSleptSince: a sleep shows in the boot clock, a stopped virtual machine in the wall clock; slewing, a clock that is
// set back and a run as such show in neither.
func TestSleptSince(t *testing.T) {
	const run = 20 * time.Second
	for name, c := range map[string]struct {
		wall, boot time.Duration
		want       string
	}{
		"undisturbed":       {run, run, ""},
		"slewed":            {run + 10*time.Millisecond, run, ""},
		"leap second":       {run + time.Second, run, ""},
		"set back":          {run - time.Hour, run, ""},
		"asleep":            {run + 30*time.Second, run + 30*time.Second, "the machine slept for 30s"},
		"asleep, set back":  {run - time.Hour, run + 1500*time.Millisecond, "the machine slept for 1.5s"},
		"stopped or set to": {run + 5*time.Minute, run, "the wall clock jumped ahead by 5m0s: the machine stood still, or its clock was set"},
	} {
		then := instant{wall: 1e18, boot: 1e12, monotonic: 1e11}
		later := instant{then.wall + c.wall, then.boot + c.boot, then.monotonic + run}
		if got := later.sleptSince(then); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestNow: the clocks that this system has run alike while it is awake.
func TestNow(t *testing.T) {
	then := now()
	time.Sleep(10 * time.Millisecond)
	later := now()
	if later.monotonic-then.monotonic < 10*time.Millisecond || later.wall == then.wall || later.boot == then.boot {
		t.Errorf("a clock stands still: %+v, %+v", then, later)
	}
}

package study

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// A run is timed by the monotonic clock, which stands still while the machine sleeps: a run during which it slept looks
// like any other, but terminals, device and caches were interrupted, and the second in which it happened is a lie. The
// sleep shows in the clocks that went on. Such a run says nothing of the engine, and what made it invalid is not its
// result: it is made again, and the study's log says so.

// instant is one moment on three clocks.
type instant struct {
	wall      time.Duration // CLOCK_REALTIME: goes on in sleep, and can be set
	boot      time.Duration // CLOCK_BOOTTIME: goes on in sleep, cannot be set
	monotonic time.Duration // CLOCK_MONOTONIC: stands still in sleep
}

// now reads the three clocks.
func now() instant {
	read := func(clock int32) time.Duration {
		var t unix.Timespec
		if err := unix.ClockGettime(clock, &t); err != nil {
			panic(err) // Linux has had all three since 2.6.39
		}
		return time.Duration(t.Nano())
	}
	return instant{read(unix.CLOCK_REALTIME), read(unix.CLOCK_BOOTTIME), read(unix.CLOCK_MONOTONIC)}
}

// What the clocks may differ by without a sleep: the three readings are not made at once, and the wall clock is slewed by
// up to 0.05 % and stepped by leap seconds.
const (
	bootTolerance = 100 * time.Millisecond
	wallTolerance = 2 * time.Second
)

// sleptSince says in words how the time from then to i was interrupted; empty: it was not. A virtual machine that was
// stopped and has its clock put right afterwards shows in the wall clock only.
func (i instant) sleptSince(then instant) string {
	passed := i.monotonic - then.monotonic
	if slept := i.boot - then.boot - passed; slept > bootTolerance {
		return fmt.Sprintf("the machine slept for %s", slept.Round(time.Second/10))
	}
	if ahead := i.wall - then.wall - passed; ahead > wallTolerance {
		return fmt.Sprintf("the wall clock jumped ahead by %s: the machine stood still, or its clock was set", ahead.Round(time.Second/10))
	}
	return ""
}

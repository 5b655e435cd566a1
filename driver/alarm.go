package driver

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm lets a goroutine sleep to within some tens of microseconds, without a processor: a timerfd, which the kernel
// lets expire to the microsecond, awaited in Go's poller. Go's own timers are rounded up to whole milliseconds while
// all processors are idle, since the poller waits by epoll_wait; a thread in nanosleep holds a processor of Go's
// scheduler for a while, which the engine may need.
type alarm struct {
	fd    int
	timer *os.File
	when  unix.ItimerSpec
	count [8]byte
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("cannot make a timer: %w", err)
	}
	return &alarm{fd: fd, timer: os.NewFile(uintptr(fd), "timerfd")}, nil
}

// sleep returns after d, above 0, or when wake is called or has been.
func (a *alarm) sleep(d time.Duration) {
	a.when.Value = unix.NsecToTimespec(int64(d))
	if err := unix.TimerfdSettime(a.fd, 0, &a.when, nil); err != nil {
		time.Sleep(d)
		return
	}
	// The error of wake, or none; the caller looks at the clock.
	_, _ = a.timer.Read(a.count[:])
}

// wake ends a sleep, and all later ones.
func (a *alarm) wake() { _ = a.timer.SetReadDeadline(time.Unix(1, 0)) }

func (a *alarm) close() error { return a.timer.Close() }

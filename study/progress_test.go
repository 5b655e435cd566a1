package study

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestProgressLine: one line that replaces itself, without a line feed, and is gone after Clear.
func TestProgressLine(t *testing.T) {
	var w strings.Builder
	p := NewProgress(&w, 400)
	p.past, p.took = 100, 100
	p.Begin("matrix-a-r1", 100)
	w.Reset()
	p.Live(Live{Step: "running", Seconds: 7, PerSecond: 1234.6})
	if got, want := w.String(), "\r\x1b[K 25%  matrix-a-r1  running 1235 tx/s 7 s  about 5 min left"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	w.Reset()
	p.Begin(strings.Repeat("ü", 200), 100)
	if got, want := w.String(), "\r\x1b[K 25%  "+strings.Repeat("ü", 73); got != want {
		t.Errorf("a long line: got %q, want %q", got, want)
	}
	w.Reset()
	p.Clear()
	p.Clear()
	if got := w.String(); got != "\r\x1b[K" {
		t.Errorf("Clear wrote %q", got)
	}
}

// TestProgressCount: steps are counted on the line, and in Count with the time that is left, on a terminal or not.
func TestProgressCount(t *testing.T) {
	var w strings.Builder
	p := NewProgress(&w, 400)
	p.steps, p.done = 3, 1
	p.Begin("matrix ram-w1-pure-64, round 2", 200)
	w.Reset()
	p.Live(Live{Step: "running", Seconds: 7, PerSecond: 1234.6})
	// The line is cut at the terminal's width.
	if got, want := w.String(), "\r\x1b[K  0%  2/3  matrix ram-w1-pure-64, round 2  running 1235 tx/s 7 s  about 7 min l"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	p.started = time.Now().Add(-100 * time.Second)
	p.End()
	if got, want := p.Count(), "2 of 3, about 2 min left"; got != want { // half as long as estimated
		t.Errorf("got %q, want %q", got, want)
	}
	p.Begin("last", 200)
	p.End()
	if got := p.Count(); got != "3 of 3" {
		t.Errorf("at the end: %q", got)
	}
}

// TestProgressNowhere: without a terminal nothing is written, and nothing fails.
func TestProgressNowhere(t *testing.T) {
	p := NewProgress(nil, 10)
	p.Begin("a", 5)
	p.Live(Live{Step: "running"})
	p.End()
	p.Clear()
	(*Progress)(nil).Clear()
	if p.past != 5 {
		t.Errorf("past is %v", p.past)
	}
}

// TestTimeLeft: what is left is the estimate, stretched by how the estimates have held so far, and never negative.
func TestTimeLeft(t *testing.T) {
	for _, c := range []struct{ total, past, took, guess, running, want float64 }{
		{total: 100, guess: 10, want: 100},
		{total: 100, guess: 10, running: 4, want: 96},
		{total: 100, guess: 10, running: 1000, want: 90},
		{total: 100, past: 50, took: 100, guess: 10, want: 100},
		{total: 100, past: 90, took: 45, guess: 10, running: 2, want: 3},
		{total: 0, guess: 0, running: 3, want: 0},
	} {
		p := NewProgress(nil, c.total)
		p.past, p.took, p.guess = c.past, c.took, c.guess
		p.started = time.Now().Add(-time.Duration(c.running * float64(time.Second)))
		if got := p.left(); math.Abs(got-c.want) > 1 {
			t.Errorf("%+v: %v left", c, got)
		}
	}
}

func TestDurationText(t *testing.T) {
	for s, want := range map[float64]string{0: "0 s", 89.4: "89 s", 90: "2 min", 5399: "90 min", 5400: "1.5 h"} {
		if got := durationText(s); got != want {
			t.Errorf("%v s: %q, want %q", s, got, want)
		}
	}
}

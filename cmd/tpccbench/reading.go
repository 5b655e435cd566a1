package main

import (
	"fmt"
	"io"
	"time"
)

// reading shows on a terminal how far the reading of a store is, if it takes longer than readingPatience.
type reading struct {
	w     io.Writer // nil: no terminal
	what  string
	began time.Time
	last  time.Time // when the line was drawn
	done  int64
}

const (
	readingPatience = 2 * time.Second
	readingEvery    = 200 * time.Millisecond
)

func newReading(w io.Writer, what string) *reading {
	return &reading{w: w, what: what, began: time.Now()}
}

// at says that done of total bytes are read.
func (r *reading) at(done, total int64) {
	now := time.Now()
	if done < r.done { // another store
		r.began = now
	}
	r.done = done
	if r.w == nil || now.Sub(r.began) < readingPatience || now.Sub(r.last) < readingEvery || total == 0 {
		return
	}
	r.last = now
	took := now.Sub(r.began)
	left := time.Duration(float64(took) * float64(total-done) / float64(max(done, 1)))
	fmt.Fprintf(r.w, "\r\x1b[Kreading %s: %d %% of %d MiB, about %.0f s left", r.what, 100*done/total, total>>20, left.Seconds())
}

// clear takes the line away.
func (r *reading) clear() {
	if !r.last.IsZero() {
		fmt.Fprint(r.w, "\r\x1b[K")
		r.last = time.Time{}
	}
}

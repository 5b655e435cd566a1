package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestReading: a line is drawn only on a terminal and when the reading has taken its time, is not drawn again at once,
// and is taken away; another store begins anew.
func TestReading(t *testing.T) {
	var out bytes.Buffer
	r := newReading(&out, "DIR")
	r.at(1<<20, 4<<20)
	r.clear()
	if out.Len() > 0 {
		t.Errorf("drawn at once: %q", &out)
	}
	r.began = r.began.Add(-2 * readingPatience)
	r.at(2<<20, 4<<20)
	r.at(3<<20, 4<<20)
	if got := out.String(); strings.Count(got, "reading DIR: 50 % of 4 MiB") != 1 || strings.Contains(got, "75 %") {
		t.Errorf("drawn: %q", got)
	}
	out.Reset()
	r.clear()
	r.clear()
	if got := out.String(); got != "\r\x1b[K" {
		t.Errorf("taken away with %q", got)
	}
	out.Reset()
	r.last = time.Time{}
	r.at(1<<20, 4<<20)
	if out.Len() > 0 {
		t.Errorf("drawn for another store at once: %q", &out)
	}
	none := newReading(nil, "DIR")
	none.began = none.began.Add(-2 * readingPatience)
	none.at(1, 2)
	none.clear()
}

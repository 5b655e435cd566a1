package study

import (
	"testing"

	"tpccbench/record"
)

// TestRanFull: a run that failed for want of space is told from one that failed otherwise, by what SQLite and the
// operating system say.
func TestRanFull(t *testing.T) {
	for reason, want := range map[string]bool{
		"3 transactions failed; the first: payment of terminal 2: write log-1 at offset 4096: no space left on device": true,
		"1 transactions failed; the first: new_order of terminal 0: database or disk is full":                          true,
		"1 transactions failed; the first: new_order of terminal 0: disk I/O error":                                    false,
	} {
		if got := ranFull(&record.Run{Status: record.Failed, Reason: reason}); got != want {
			t.Errorf("%q: %t, want %t", reason, got, want)
		}
	}
	if ranFull(&record.Run{Status: record.OK, Reason: "no space left on device"}) {
		t.Error("a run that passed did not run full")
	}
}

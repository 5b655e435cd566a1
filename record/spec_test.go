package record

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// A list of processors is read as taskset has it; what is none is refused with the list in the message.
func TestParseCPUs(t *testing.T) {
	for list, want := range map[string][]int{"0": {0}, "0-1": {0, 1}, "3,0-1": {0, 1, 3}, "7-7": {7}, "4095": {4095}} {
		if got, err := ParseCPUs(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", list, got, err, want)
		}
	}
	for _, list := range []string{"", ",", "0,", "-1", "1-", "2-1", "a", "0 1", " 0", "+1", "0-1-2", "4096", "99999999999999999999", "0x1"} {
		if got, err := ParseCPUs(list); err == nil || !strings.Contains(err.Error(), "is no list of processors") {
			t.Errorf("%q: %v, %v; it must be refused", list, got, err)
		}
	}
	if _, err := ParseCPUs("0-2,2"); err == nil || err.Error() != `"0-2,2" names processor 2 twice` {
		t.Errorf("one twice: %v", err)
	}
}

// The kind of a loop and its rate in words, and which rates are none.
func TestRate(t *testing.T) {
	closed, open := Spec{}, Spec{RateTxPerS: 0.125, Arrivals: ArrivalsFixed}
	if closed.ArrivalsText() != "closed" || closed.RateText() != "" || open.ArrivalsText() != "fixed" || open.RateText() != "0.125" {
		t.Errorf("%q %q, %q %q", closed.ArrivalsText(), closed.RateText(), open.ArrivalsText(), open.RateText())
	}
	if large := (&Spec{RateTxPerS: MaxRate}).RateText(); large != "10000000" {
		t.Errorf("the largest rate is %q", large)
	}
	for _, rate := range []float64{math.NaN(), math.Inf(1), -1, MinRate / 2, MaxRate + 1} {
		if err := ValidateRate(rate, ArrivalsFixed); err == nil || !strings.Contains(err.Error(), "it must be 0.001..10000000") {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
}

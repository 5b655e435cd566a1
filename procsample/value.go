package procsample

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// Value is a measured whole number, or the reason why there is none. Its unit is in the name of what holds it. In JSON
// it is the number, or {"unmeasured": reason}.
type Value struct {
	N      int64  // meaningful only if OK
	Reason string // empty: measured
}

// OK says whether v was measured.
func (v Value) OK() bool { return v.Reason == "" }

// String gives the number, or the reason in parentheses.
func (v Value) String() string {
	if !v.OK() {
		return "(" + v.Reason + ")"
	}
	return fmt.Sprint(v.N)
}

// Sub gives how far a counter went since before. A reason in either is the result's reason. A counter that went
// backwards (it wrapped, or the device or thread is another one now) is not measured.
func (v Value) Sub(before Value) Value {
	switch {
	case !v.OK():
		return v
	case !before.OK():
		return before
	case v.N < before.N:
		return absent("the counter went backwards, from %d to %d", before.N, v.N)
	case before.N < 0 && v.N > math.MaxInt64+before.N:
		return absent("the counter went too far, from %d to %d", before.N, v.N)
	}
	return Value{N: v.N - before.N}
}

// add sums two figures; a reason in either is the result's reason.
func (v Value) add(w Value) Value {
	switch {
	case !v.OK():
		return v
	case !w.OK():
		return w
	case w.N > 0 && v.N > math.MaxInt64-w.N:
		return absent("the sum of %d and %d is out of range", v.N, w.N)
	}
	return Value{N: v.N + w.N}
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return marshalFigure(v.N, v.Reason) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(data []byte) error {
	var w Value
	if err := unmarshalFigure(data, &w.N, &w.Reason); err != nil {
		return err
	}
	*v = w
	return nil
}

// Share is a measured part of a whole, 0..1, or the reason why there is none. In JSON as Value.
type Share struct {
	F      float64 // meaningful only if OK
	Reason string  // empty: measured
}

// OK says whether s was measured.
func (s Share) OK() bool { return s.Reason == "" }

// MarshalJSON implements json.Marshaler.
func (s Share) MarshalJSON() ([]byte, error) { return marshalFigure(s.F, s.Reason) }

// UnmarshalJSON implements json.Unmarshaler.
func (s *Share) UnmarshalJSON(data []byte) error {
	var t Share
	if err := unmarshalFigure(data, &t.F, &t.Reason); err != nil {
		return err
	}
	*s = t
	return nil
}

// Over is v as a share of whole, which has the same unit. A whole that is not positive has no shares.
func (v Value) Over(whole Value) Share {
	switch {
	case !v.OK():
		return Share{Reason: v.Reason}
	case !whole.OK():
		return Share{Reason: whole.Reason}
	case whole.N <= 0:
		return Share{Reason: fmt.Sprintf("no share of a whole that is %d", whole.N)}
	}
	return Share{F: float64(v.N) / float64(whole.N)}
}

type unmeasured struct {
	Reason string `json:"unmeasured"`
}

func marshalFigure(n any, reason string) ([]byte, error) {
	if reason != "" {
		return json.Marshal(unmeasured{reason})
	}
	return json.Marshal(n)
}

func unmarshalFigure(data []byte, n any, reason *string) error {
	if len(data) > 0 && data[0] == '{' {
		var u unmeasured
		if err := json.Unmarshal(data, &u); err != nil {
			return err
		}
		if u.Reason == "" {
			return errors.New(`a figure is a number or {"unmeasured": "reason"}`)
		}
		*reason = u.Reason
		return nil
	}
	if string(data) == "null" {
		return errors.New(`a figure is a number or {"unmeasured": "reason"}, not null`)
	}
	return json.Unmarshal(data, n)
}

func absent(format string, args ...any) Value { return Value{Reason: fmt.Sprintf(format, args...)} }

// unread is the figure that err has prevented.
func unread(err error) Value { return Value{Reason: err.Error()} }

// measured is n, unless it does not fit.
func measured(n uint64) Value {
	if n > math.MaxInt64 {
		return absent("%d is out of range", n)
	}
	return Value{N: int64(n)}
}

// measuredTimes is n units of size bytes each, unless that does not fit.
func measuredTimes(n uint64, size int64) Value {
	if n > uint64(math.MaxInt64/size) {
		return absent("%d times %d is out of range", n, size)
	}
	return Value{N: int64(n) * size}
}

package procsample

import (
	"encoding/json"
	"math"
	"testing"
)

// A difference has the reason of whichever side lacks its figure, and a counter never goes backwards.
func TestValueSub(t *testing.T) {
	now, before := absent("denied now"), absent("denied before")
	has(t, "7-3", Value{N: 7}.Sub(Value{N: 3}), 4)
	has(t, "7-7", Value{N: 7}.Sub(Value{N: 7}), 0)
	has(t, "3-(-7)", Value{N: 3}.Sub(Value{N: -7}), 10)
	lacks(t, "absent-3", now.Sub(Value{N: 3}), "denied now")
	lacks(t, "3-absent", Value{N: 3}.Sub(before), "denied before")
	lacks(t, "absent-absent", now.Sub(before), "denied now")
	lacks(t, "3-7", Value{N: 3}.Sub(Value{N: 7}), "went backwards, from 7 to 3")
	lacks(t, "max-(-1)", Value{N: math.MaxInt64}.Sub(Value{N: -1}), "went too far")
}

func TestValueString(t *testing.T) {
	if a, b := (Value{N: -3}).String(), absent("denied").String(); a != "-3" || b != "(denied)" {
		t.Errorf("got %s and %s, want -3 and (denied)", a, b)
	}
}

func TestValueAdd(t *testing.T) {
	has(t, "3+4", Value{N: 3}.add(Value{N: 4}), 7)
	lacks(t, "absent+4", absent("denied").add(Value{N: 4}), "denied")
	lacks(t, "4+absent", Value{N: 4}.add(absent("denied")), "denied")
	lacks(t, "max+1", Value{N: math.MaxInt64}.add(Value{N: 1}), "out of range")
}

// Numbers of the kernel that do not fit become reasons, not negative figures.
func TestValueRange(t *testing.T) {
	has(t, "max", measured(math.MaxInt64), math.MaxInt64)
	lacks(t, "max+1", measured(math.MaxInt64+1), "out of range")
	has(t, "3 sectors", measuredTimes(3, 512), 1536)
	lacks(t, "2^62 sectors", measuredTimes(1<<62, 512), "out of range")
}

func TestValueOver(t *testing.T) {
	if s := (Value{N: 1}).Over(Value{N: 4}); !s.OK() || s.F != 0.25 {
		t.Errorf("1 over 4 is %+v", s)
	}
	for what, s := range map[string]Share{
		"absent over 4": absent("denied").Over(Value{N: 4}),
		"1 over absent": Value{N: 1}.Over(absent("denied")),
		"1 over 0":      Value{N: 1}.Over(Value{}),
		"1 over -1":     Value{N: 1}.Over(Value{N: -1}),
	} {
		if s.OK() || s.F != 0 {
			t.Errorf("%s is %+v, want none", what, s)
		}
	}
}

// A raw record holds the number or why there is none, and gives it back as it was.
func TestFigureJSON(t *testing.T) {
	type record struct {
		A, B Value
		C, D Share
	}
	in := record{A: Value{N: math.MaxInt64}, B: absent("denied"), C: Share{F: 0.25}, D: Share{Reason: "no ticks"}}
	data, err := json.Marshal(in)
	mustDo(t, err)
	want := `{"A":9223372036854775807,"B":{"unmeasured":"denied"},"C":0.25,"D":{"unmeasured":"no ticks"}}`
	if string(data) != want {
		t.Errorf("got %s, want %s", data, want)
	}
	out := record{A: absent("old"), B: Value{N: 9}, C: Share{Reason: "old"}, D: Share{F: 9}}
	mustDo(t, json.Unmarshal(data, &out))
	if out != in {
		t.Errorf("got %+v back, want %+v", out, in)
	}
}

// What is neither a number nor a reason is refused: it must not become a measured 0.
func FuzzValueJSON(f *testing.F) {
	for _, seed := range []string{"0", "-1", `{"unmeasured":"x"}`, `{}`, `{"unmeasured":""}`, "null", `"1"`, "1.5", "true", "[]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v Value
		if json.Unmarshal(data, &v) != nil {
			if v != (Value{}) {
				t.Fatalf("%q failed and left %+v", data, v)
			}
			return
		}
		again, err := json.Marshal(v)
		mustDo(t, err)
		var w Value
		mustDo(t, json.Unmarshal(again, &w))
		if v != w {
			t.Fatalf("%q is %+v, and after a round trip %+v", data, v, w)
		}
	})
}

func TestValueJSONRefuses(t *testing.T) {
	for _, bad := range []string{`{}`, `{"unmeasured":""}`, `null`, `"1"`, `1.5`, `true`, `[]`} {
		var r struct{ A Value }
		if err := json.Unmarshal([]byte(`{"A":`+bad+`}`), &r); err == nil {
			t.Errorf("%s became %+v, want an error", bad, r.A)
		}
	}
}

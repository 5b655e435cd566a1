package tpcc

import (
	"strings"
	"testing"
)

func TestParseWeights(t *testing.T) {
	for _, text := range []string{"45,43,4,4,4", "1,0,0,0,0"} {
		w, err := ParseWeights(text)
		if err != nil || w.String() != text {
			t.Errorf("ParseWeights(%q) is %s, %v", text, w, err)
		}
	}
	if w, err := ParseWeights(" 45, 43, 4, 4, 4"); err != nil || w != StandardMix() {
		t.Errorf("blanks: %s, %v", w, err)
	}
	for text, reason := range map[string]string{
		"":                      "5 numbers",
		"45,43,4,4":             "5 numbers",
		"45,43,4,4,4,0":         "5 numbers",
		"45,43,4,4,x":           "not a whole number",
		"45,43,4,4,4.5":         "not a whole number",
		"45,-43,4,4,4":          "must be 0..",
		"45,43,4,4,2000000":     "must be 0..",
		"0,0,0,0,0":             "above 0",
		"1,1,1,1,9999999999999": "must be 0..",
	} {
		if _, err := ParseWeights(text); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("ParseWeights(%q): error %v, expected one with %q", text, err, reason)
		}
	}
}

package report

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// Figures have three significant digits, whole ones from 100 on, with their thousands separated.
func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v          float64
		three, all string
	}{
		{0, "0", "0"}, {1, "1.00", "1"}, {0.5, "0.500", "0.500"}, {9.996, "10.0", "10.0"}, {99.94, "99.9", "99.9"}, {99.96, "100", "100"},
		{1234.5, "1,234", "1,234"}, {1235.5, "1,236", "1,236"}, {999_999.6, "1,000,000", "1,000,000"}, {-1234, "-1,234", "-1,234"},
		{0.0001234, "0.000123", "0.000123"}, {-2, "-2.00", "-2"}, {1.5e-12, "1.50e-12", "1.50e-12"}, {12, "12.0", "12"},
	} {
		if got := three(c.v); got != c.three {
			t.Errorf("three(%v) is %q, want %q", c.v, got, c.three)
		}
		if got := whole(c.v); got != c.all {
			t.Errorf("whole(%v) is %q, want %q", c.v, got, c.all)
		}
	}
	if got := finite(math.NaN(), "%.3f"); got != "-" {
		t.Errorf("no number is %q", got)
	}
}

// A sample of counts is written without points; a round without a figure as a hyphen in its place.
func TestSampleWords(t *testing.T) {
	s := Sample{Rounds: []int{1, 3}, Values: []float64{2, 4}, Lacking: []Lack{{2, "killed"}, {4, "killed"}}}
	if s.words() != "3 (2-4)" || s.byRound() != "2 - 4 -" {
		t.Errorf("%q, %q", s.words(), s.byRound())
	}
	s.Values[1] = 4.5
	if s.words() != "3.25 (2.00-4.50)" || s.byRound() != "2.00 - 4.50 -" {
		t.Errorf("%q, %q", s.words(), s.byRound())
	}
	if got := (Sample{Lacking: []Lack{{1, "killed"}}}).words(); got != "n/a" {
		t.Errorf("nothing is %q", got)
	}
	six := Sample{Rounds: []int{1, 2, 3, 4, 5, 6}, Values: []float64{1.5, 2, 3, 4, 5, 6}}
	if got := six.words(); got != "3.50 (1.50-6.00) [1.50-6.00 at 96.9 %]" {
		t.Errorf("six rounds are %q", got)
	}
}

// A paragraph is wrapped between words, none is lost, and a word that is too long stands alone.
func TestWrap(t *testing.T) {
	long := strings.Repeat("x", 150)
	words := strings.Repeat("übermäßig viele Wörter ", 20) + long + " end"
	var b bytes.Buffer
	l := layout{blocks: []block{line{words: words}, list{words, "short"}}}
	if err := l.writeText(&b); err != nil {
		t.Fatal(err)
	}
	paragraph, items, _ := strings.Cut(b.String(), "\n\n")
	if got := strings.Join(strings.Fields(paragraph), " "); got != words {
		t.Errorf("the paragraph became %q", got)
	}
	for i, text := range strings.Split(strings.TrimSuffix(items, "\n"), "\n") {
		if first := i == 0 || text == "- short"; strings.HasPrefix(text, "- ") != first || !first && !strings.HasPrefix(text, "  ") {
			t.Errorf("line %d of the list is %q", i, text)
		}
	}
	for _, text := range strings.Split(b.String(), "\n") {
		if utf8.RuneCountInString(text) > textWidth && !strings.Contains(text, long) {
			t.Errorf("%d characters: %q", utf8.RuneCountInString(text), text)
		}
	}
}

// Text from a plan or a record cannot break a table or become markdown.
func TestMarkdownEscapes(t *testing.T) {
	var b bytes.Buffer
	l := layout{blocks: []block{heading{2, "a*b"}, grid{header: []string{"x", "y"}, rows: [][]string{{"a|b", "<i>`c`\nd"}}}}}
	if err := l.writeMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	want := "## a\\*b\n\n| x | y |\n|---|---:|\n| a\\|b | &lt;i>\\`c\\` d |\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

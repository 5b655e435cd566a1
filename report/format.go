package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tpccbench/record"
)

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// someOf lists the first three names, and how many more there are.
func someOf(names []string) string {
	const shown = 3
	text := strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// roundsText is "round 1" or "rounds 1, 2, 3".
func roundsText(rounds []int) string {
	var words []string
	for _, r := range rounds {
		words = append(words, strconv.Itoa(r))
	}
	if len(words) == 1 {
		return "round " + words[0]
	}
	return "rounds " + strings.Join(words, ", ")
}

// number renders a figure as the raw records and matrix.csv do.
func number(v float64) string { return record.Number(v) }

// three renders a figure with three significant digits, from 100 on as a whole number with its thousands separated.
func three(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 99.95 || v <= -99.95:
		return thousands(strconv.FormatFloat(v, 'f', 0, 64))
	}
	s := strconv.FormatFloat(v, 'e', 2, 64)
	exponent, _ := strconv.Atoi(s[strings.IndexByte(s, 'e')+1:])
	if exponent < -9 {
		return s
	}
	return strconv.FormatFloat(v, 'f', 2-exponent, 64)
}

// whole renders a whole number, and any other as three does.
func whole(v float64) string {
	if v != math.Trunc(v) {
		return three(v)
	}
	return thousands(strconv.FormatFloat(v, 'f', 0, 64))
}

// form is how the sample's figures are rendered: as counts if all of them are whole.
func (s Sample) form() func(float64) string {
	if slices.ContainsFunc(s.Values, func(v float64) bool { return v != math.Trunc(v) }) {
		return three
	}
	return whole
}

// thousands puts commas into a whole number.
func thousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, r := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(r)
	}
	return sign + b.String()
}

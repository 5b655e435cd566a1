package plot

import (
	"math"
	"strconv"
)

// Unit is what an axis counts in.
type Unit struct {
	Name string               // at the axis: transactions/s
	Text func(float64) string // a value at the axis: 10k
}

// Count is a number of things, labelled 50, 10k, 2M.
func Count(name string) Unit { return Unit{name, scaled(1000, "", "k", "M", "G")} }

// Nanoseconds is a time given in ns and labelled ns, µs, ms or s.
func Nanoseconds(name string) Unit { return Unit{name, scaled(1000, " ns", " µs", " ms", " s")} }

// Microseconds is a time given in µs and labelled µs, ms or s.
func Microseconds(name string) Unit { return Unit{name, scaled(1000, " µs", " ms", " s")} }

// Bytes is a number of bytes, labelled B, kB, MB, GB by thousands.
func Bytes(name string) Unit { return Unit{name, scaled(1000, " B", " kB", " MB", " GB", " TB")} }

// Percent is a share, 0..1, labelled in per cent.
func Percent(name string) Unit {
	return Unit{name, func(v float64) string { return short(v*100) + " %" }}
}

// scaled renders a value with the largest of the suffixes, each step times the one before it, that leaves at least 1.
func scaled(step float64, suffixes ...string) func(float64) string {
	return func(v float64) string {
		i := 0
		for math.Abs(v) >= step*0.9995 && i < len(suffixes)-1 {
			v /= step
			i++
		}
		if v == 0 {
			return "0"
		}
		return short(v) + suffixes[i]
	}
}

// short renders up to three significant digits, without an exponent.
func short(v float64) string {
	if math.Abs(v) >= 999.5 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if err != nil {
		panic(err) // what strconv wrote, it reads
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

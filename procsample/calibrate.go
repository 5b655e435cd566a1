package procsample

import (
	"fmt"
	"time"
)

// The calibration loop walks calibrateSteps times through a table of calibrateWords words in an order that its own
// content decides, and changes each word that it meets: integer work and loads that wait for one another, from the
// second and third level of cache (4 MiB). It takes some 50 ms on a server's core of the 2020s and a few times that
// on a small board; only its change between two times on one machine says something: another clock rate, a busy
// neighbour, a throttled core.
const (
	calibrateWords = 1 << 19
	calibrateSteps = 5 << 19
	calibrateSum   = 0xc53d46ac34ee25bb // what the walk ends with, always
)

// Calibrate runs a fixed piece of work on the calling thread and gives the time that it took by the wall clock, ns. It
// allocates 4 MiB for the while. Call it before and after a run, outside of what is measured.
func Calibrate() int64 {
	table := make([]uint64, calibrateWords)
	calibrateFill(table)
	start := time.Now()
	sum := calibrateWalk(table)
	ns := time.Since(start).Nanoseconds()
	if sum != calibrateSum {
		panic(fmt.Sprintf("procsample: the calibration loop gave %#x instead of %#x", sum, uint64(calibrateSum)))
	}
	return ns
}

// calibrateFill writes a fixed pattern (splitmix64).
func calibrateFill(table []uint64) {
	for i := range table {
		table[i] = mix(uint64(i) * 0x9e3779b97f4a7c15)
	}
}

func calibrateWalk(table []uint64) uint64 {
	at := uint64(1)
	for range calibrateSteps {
		p := &table[at%calibrateWords]
		at = mix(at + *p)
		*p = at
	}
	return at
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

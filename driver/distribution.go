package driver

import "math/bits"

// distribution counts latencies in a few KiB, so that there can be one for each second of a run: a bucket per ns below
// 2*octaveBuckets ns, and from there octaveBuckets buckets of equal width for each doubling. What it answers is at most
// 1/octaveBuckets (3.1 %) above the truth. The histograms of whole runs are thirty times as fine and fifty times as
// large.
//
// The bucket of v is its six leading bits, and octaveBuckets buckets further for each bit that follows them.
//
//	v          0 .. 63   64,65  66,67 .. 126,127   128..131 ..
//	bucket     0 .. 63   64     65    .. 95        96       ..
type distribution [(maxDoublings + 2) * octaveBuckets]uint32

const (
	octaveBits    = 5
	octaveBuckets = 1 << octaveBits
	maxDoublings  = 31 // longestNS < 2*octaveBuckets << maxDoublings
)

func bucketOf(ns int64) int {
	doublings := max(0, bits.Len64(uint64(ns))-(octaveBits+1))
	return doublings<<octaveBits + int(ns>>doublings)
}

// endOf is the longest latency that bucket i holds, ns.
func endOf(i int) int64 {
	doublings := max(0, i>>octaveBits-1)
	return int64(i-doublings<<octaveBits+1)<<doublings - 1
}

// add counts a latency of 0..longestNS.
func (d *distribution) add(ns int64) { d[bucketOf(ns)]++ }

// percentile is the latency that p percent of those in all distributions do not exceed, ns, 0 < p <= 100: that of rank
// ceil(p/100 * n). n is their number; of none it is 0 ns.
func percentile(p int64, distributions []*distribution) (ns, n int64) {
	var sum [len(distribution{})]int64
	for _, d := range distributions {
		for i, count := range d {
			sum[i] += int64(count)
			n += int64(count)
		}
	}
	i := 0
	for rank := (p*n+99)/100 - sum[i]; rank > 0; rank -= sum[i] {
		i++
	}
	return endOf(i), n
}

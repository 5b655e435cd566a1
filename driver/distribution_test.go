package driver

import "testing"

// TestBuckets proves that the buckets follow each other without a gap up to the longest latency, each no wider than its
// share of the latencies in it, so that an answer is not more than that off.
func TestBuckets(t *testing.T) {
	next := int64(0)
	for i := range len(distribution{}) {
		end := endOf(i)
		if bucketOf(next) != i || bucketOf(end) != i {
			t.Fatalf("bucket %d ends at %d ns; %d ns is in bucket %d, %d ns in bucket %d", i, end, next, bucketOf(next), end, bucketOf(end))
		}
		if width := end - next; width > next/octaveBuckets {
			t.Fatalf("bucket %d is %d..%d ns: too wide", i, next, end)
		}
		next = end + 1
	}
	if next <= longestNS {
		t.Errorf("the buckets end at %d ns; they must hold %d ns", next, longestNS)
	}
}

// Package probe measures the limits of the device behind a directory, so that what an engine reaches there can be told
// as a share of what the device can do: the sustained write rate, and how long it takes until a small write is durable.
//
// What is measured, and how:
//
//	sequential write   a fresh file, written in blocks of 1 MiB through the page cache with one fdatasync at its end; the
//	                   time of both counts. The file is made longer until it takes most of its share of the time
//	write + fdatasync  one block after the other, 512 B, 4, 16 and 64 KiB, each followed by fdatasync; in a file whose
//	                   blocks are there and were written before (preallocated), and at the end of one that grows, where
//	                   the file system's journal is written too
//	device             flushes, write requests and sectors (512 B) of /proc/diskstats per fdatasync: those of the whole
//	                   device, so of all who write to it
//
// The content is random, so that no device or file system makes it shorter. The files have no names: they are gone
// when the process is, however it ends.
package probe

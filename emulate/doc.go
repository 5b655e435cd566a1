// Package emulate makes an SD card where there is none: a loop device over a file, with an ext4 of its own, under the
// limits of the block-I/O controller of the kernel's control groups. It needs Linux and root.
//
// # What is limited
//
// The limits are on the loop device, so that they bite on all that its file system does, the journal included, and the
// device's counters are those of that file system alone. With control groups of version 1 the limits are set in the root
// group, because the kernel's own threads (the journal, the writing back of pages) are there, and the program moves
// itself into it: in version 1 a group's limits do not hold for the groups below. With version 2, whose root group takes
// no limits, a group is made that holds the program and the thread of the file system's journal. A card is handed out
// only after a measurement has shown that neither small synced writes nor large ones get past the limits.
//
// The controller counts in slices of about 0.1 s: a card that has been idle takes a few requests at once, and those
// that follow wait. Rates over a second are those of the profile; the distribution of single latencies is not that of a
// card. A card's limits are lifted while data is copied to it before a measurement (Lift), which would take minutes on a
// slow one and is measured by nobody. What a card does beyond rates (erase blocks, garbage collection, lies about flushes) is not emulated.
//
// # How it is always removed
//
// A process of its own, the keeper, makes the card and removes it as soon as the pipe from its parent ends: at Close,
// after a panic, after SIGKILL. If the keeper is killed too, what it left is found by the next Start or Clean: each
// card is a directory with a state file, locked while it is in use. Only what such a directory holds is detached: the
// loop device over its image and the mount of that device on its mount point.
package emulate

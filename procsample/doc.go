// Package procsample reads from Linux what a run has cost and where it ran: CPU of a process and of a thread, resident
// memory, bytes written, the block device behind a directory and its counters, noise, space, and facts of the machine.
//
// A figure that cannot be read is absent with a reason and never 0: see Value. Nothing here fails a run.
//
// What is read, and from where (but for the garbage collector all of it is the kernel's own accounting; nothing is
// estimated):
//
//	CPU of a process        its CPU clock (clock_gettime), ns: threads that have ended count. /proc/PID/schedstat
//	                        would be the first thread alone, /proc/PID/stat has 10 ms ticks
//	CPU of a thread         /proc/PID/task/TID/schedstat, ns; lags by up to one scheduler tick while the thread runs
//	resident, peak          VmRSS and VmHWM of /proc/PID/status
//	write_bytes             /proc/PID/io: pages dirtied, on file systems that write back; tmpfs adds 0
//	context switches        getrusage: /proc/PID/status would be the first thread alone
//	device bytes, flushes   /proc/diskstats: sectors are 512 B whatever the device says
//	device of a directory   mount ID (statx) -> /proc/self/mountinfo -> /sys/dev/block
//	garbage collection      runtime/metrics of the calling process: Go's estimates, not the kernel's accounting
//	noise                   /proc/pressure/{cpu,io,memory}, steal of /proc/stat, Calibrate
//	cgroup limits           /proc/self/cgroup, and the files of the controllers, v1 and v2
//
// Reading and parsing are apart: System.root is "/" or a directory with made-up /proc, /sys and /dev, so that the tests
// under testdata run anywhere.
package procsample

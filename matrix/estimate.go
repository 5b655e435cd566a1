package matrix

// The constants of Estimate: upper estimates for the standard population and a fast engine, so that a run that is let
// begin does not fail for want of space. Real runs need a third to a half of it.
const (
	// warehouseBytes is the loaded data of one warehouse, indexes and free space in pages included, and also what an
	// engine that holds it all in memory needs for it.
	warehouseBytes = 150_000_000
	// Files and memory grow by at most this many bytes per second of a run.
	growthMemoryDevice = 60_000_000
	growthDiskDevice   = 25_000_000
	// programBytes is the memory of the program, the engine's caches included, without data.
	programBytes = 200_000_000
	// Seconds around a run: starting the child process, sync, calibration before and after, closing, reopening.
	overheadSeconds = 2.0
	// Seconds per warehouse for copying the loaded data, opening it, and the checks afterwards.
	warehouseSecondsMemory = 0.7
	warehouseSecondsDisk   = 2.0
	// Seconds of checks after the run, per second of run.
	checkShare = 0.15
	// gateRate is the number of transactions per second of an equality gate, one after the other.
	gateRate = 2_000
)

// Estimate says what a run needs at most: its duration in seconds with the copy of the data, the checks and all that is
// around it; the bytes on its device (the loaded data, its copy, and growth); and the bytes of memory that the process
// may take, which come on top of the bytes of a memory device.
func Estimate(r Run) (seconds float64, deviceBytes, memoryBytes int64) {
	window := r.Seconds + r.WarmUpSeconds
	w := float64(r.W)
	perSecond, perWarehouse := float64(growthDiskDevice), warehouseSecondsDisk
	if r.Kind == KindMemory {
		perSecond, perWarehouse = growthMemoryDevice, warehouseSecondsMemory
	}
	growth := perSecond * window
	seconds = window*(1+checkShare) + overheadSeconds + w*perWarehouse
	deviceBytes = int64(2*w*warehouseBytes + growth)
	memoryBytes = int64(programBytes + w*warehouseBytes + growth)
	return seconds, deviceBytes, memoryBytes
}

// EstimateGate says the same of an equality gate. The stores of all its engines lie on the device together, so that the
// first difference can be found.
func EstimateGate(g Gate) (seconds float64, deviceBytes, memoryBytes int64) {
	perEngine := float64(g.Transactions)/gateRate + overheadSeconds + float64(g.W)*warehouseSecondsDisk
	bytes := int64(g.W) * warehouseBytes
	return perEngine * float64(len(g.Engines)), int64(len(g.Engines)) * bytes, programBytes + bytes
}

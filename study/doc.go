// Package study carries out runs: one cell, or a whole registered plan. One run is one fresh process: the parent makes
// the loaded data once per format, W and seed, copies it for each run and starts a child that opens the engine on the
// copy, runs, closes, opens again and checks. What the child measured becomes a raw record, also when a gate was broken.
//
//	parent (Study, Runner)                      child (Child)
//	  work directory on the device, locked
//	  loaded data  -- request "load" ----------->  open, load, close
//	  copy, sync
//	  run          -- request "run" ------------>  calibrate, open, terminals, close, reopen, check
//	  progress     <-- one line a second --------
//	  raw record   <-- one line at the end ------
//
// The request goes to the child's standard input, which stays open: when the parent dies, the child sees its end,
// removes the work directory and exits. A child that says nothing, or takes, for too long is killed.
//
// Before the first measurement of a study the plan is registered in its folder, under its identity and the commit that
// has it. Going on (resume) takes the same plan, and the records as they were written: raw.sha256 has their hashes. A run
// that was interrupted, whose device ran full or during which the machine slept has no record and is made again; a run
// that broke a gate has one and is not. One machine carries out one study at a time.
package study

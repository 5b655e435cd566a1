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
// removes the work directory and exits. A child that says nothing for too long is killed.
package study

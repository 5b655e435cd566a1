// Package model is the reference that engines are compared with: TPC-C in maps and sorted slices behind one mutex, each
// transaction written clause by clause from the specification, slow and obvious.
//
// Store is the model proper, in memory. Factory wraps it as an engines.Engine that keeps a journal of its inputs, so
// that suites and audits can be tried on an engine that is known to be right. Neither is a contestant: nothing that is
// measured uses this package.
package model

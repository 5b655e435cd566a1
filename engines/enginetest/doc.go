// Package enginetest is the conformance suite of engines: what engines.Engine and engines.Session promise, as checks
// that any engine is put through. An adapter's author writes
//
//	func TestEngine(t *testing.T) { enginetest.Run(t, mine.Factory) }
//
// and, for settings other than the defaults, RunWith. The reference is enginetest/model, a plain store in memory.
//
// Each check is a function that returns an error, so that the suite can be tried on engines that are wrong on purpose:
// this package's own tests do that and demand that each of them is caught.
//
// What needs a process that dies (kill -9) is package audit's; here the store's files are copied while it is open.
package enginetest

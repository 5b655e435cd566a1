// Package audit kills a process in the middle of its work, again and again, and looks for what was acknowledged and is
// gone.
//
// A life is one child process that opens the store and runs the mix with some terminals. The terminals tell every write
// that the engine acknowledged to the parent, over a pipe, one write(2) each, before they go on to the next
// transaction: what the kernel has taken survives the child. The parent kills the child (SIGKILL) at a random moment of
// its work, or of its opening of the store; drains the pipe; opens the store itself; and holds it to all that any life
// was acknowledged, with consistency.Audit. The next life goes on with the same store.
//
// A kill leaves what the process had given to the kernel, synced or not: this audit finds what is acknowledged before
// it is written, torn or half-recovered, not what is written and never synced. For that the files must be taken away
// from under the store; see the record-log store's own tests.
//
// The child is the same program again, by a command line that Config gives and that ends in Child.
package audit

//go:build amd64 || arm64

package store

// prefetch has the processor fetch the words of a full leaf into its caches, and does not wait for them.
//
//go:noescape
func prefetch(n *node)

// pause lets a moment pass, some tens of ns, and tells the processor that this is a loop that waits.
func pause()

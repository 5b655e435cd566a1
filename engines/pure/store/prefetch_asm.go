//go:build amd64 || arm64

package store

// prefetch has the processor fetch the words of a full leaf into its caches, and does not wait for them.
//
//go:noescape
func prefetch(n *node)

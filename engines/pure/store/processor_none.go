//go:build !amd64 && !arm64

package store

// There is no instruction for it here.

func prefetch(*node) {}
func pause()         {}

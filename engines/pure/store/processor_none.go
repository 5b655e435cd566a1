//go:build !amd64 && !arm64

package store

func prefetch(*node) {}

func pause() {}

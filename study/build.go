package study

import (
	"runtime/debug"

	"tpccbench/record"
)

// ReadBuild says what this program was built from, as far as the Go toolchain wrote it into the binary.
func ReadBuild() record.Build {
	var b record.Build
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.GoVersion = info.GoVersion
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.ToolCommit = s.Value
		case "vcs.modified":
			b.ToolModified = s.Value == "true"
		case "CGO_CFLAGS":
			b.CGOCFlags = s.Value
		}
	}
	return b
}

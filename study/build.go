package study

import (
	"runtime/debug"

	"tpccbench/record"
)

// linkedCommit and linkedModified are set by the linker (-X, see build in setup.sh): the commit, and true or false.
// Unlike what the Go toolchain writes by itself, they leave records of results aside: those do not change the program.
var linkedCommit, linkedModified string

// ReadBuild says what this program was built from, as far as the binary knows.
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
	if linkedCommit != "" {
		b.ToolCommit, b.ToolModified = linkedCommit, linkedModified != "false"
	}
	return b
}

// buildSettings is what the Go toolchain noted of this program's build, by its names: -ldflags, -tags, CGO_CFLAGS, GOAMD64,
// vcs and so on. What GOFLAGS set is in there under the flag's own name.
func buildSettings() map[string]string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	m := map[string]string{}
	for _, s := range info.Settings {
		m[s.Key] = s.Value
	}
	return m
}

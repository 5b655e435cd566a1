package procsample

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

var errNoMountID = errors.New("the kernel does not give mount IDs")

// mountOf finds the mount that holds path, which must exist.
func (s *System) mountOf(path string) (*procfs.MountInfo, error) {
	mounts, err := s.proc.GetMounts()
	if err != nil {
		return nil, err
	}
	id, err := s.mountID(path)
	if errors.Is(err, errNoMountID) {
		id = 0
	} else if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	if id == 0 {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	if m := findMount(mounts, id, path); m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("mountinfo has no mount for %s", path)
}

// findMount picks the mount with this ID, or without one (0) the mount with the longest mount point above the absolute
// path; of two on one mount point the later one covers the earlier.
func findMount(mounts []*procfs.MountInfo, id int, path string) *procfs.MountInfo {
	if id != 0 {
		i := slices.IndexFunc(mounts, func(m *procfs.MountInfo) bool { return m.MountID == id })
		if i < 0 {
			return nil
		}
		return mounts[i]
	}
	var best *procfs.MountInfo
	longest := -1
	for _, m := range mounts {
		point := unescape(m.MountPoint)
		if within(path, point) && len(point) >= longest {
			best, longest = m, len(point)
		}
	}
	return best
}

// within says whether the clean absolute path is dir or lies in it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// unescape undoes mountinfo's escapes: blank, tab, line feed, backslash, comma and so on stand as \ and three octal
// digits. What is not such an escape stays as it is.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && s[i+1] >= '0' && s[i+1] <= '3' && isOctal(s[i+2]) && isOctal(s[i+3]) {
			b = append(b, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }

// mountOptions lists options of the mount and of the file system, sorted, each once, without those that hold paths
// (an overlay's directories): they are no fact about the file system.
func mountOptions(m *procfs.MountInfo) []string {
	set := map[string]bool{}
	for _, options := range []map[string]string{m.Options, m.SuperOptions} {
		for key, value := range options {
			switch {
			case key == "" || strings.Contains(value, "/"):
			case value == "":
				set[key] = true
			default:
				set[key+"="+unescape(value)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

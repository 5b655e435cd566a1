package emulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tpccbench/procsample"
)

// Facts say that a device is an emulated card, and what it was given.
type Facts struct {
	Profile string `json:"profile"`
	Limits  Limits `json:"limits"`
	How     string `json:"how"` // which controller limits, and where
}

// String is the label of a device that is emulated.
func (f *Facts) String() string {
	return fmt.Sprintf("an emulated SD card, profile %s: at most %s", f.Profile, f.Limits)
}

// Of tells whether the directory is on an emulated card, whoever made it, and gives its facts; nil: it is not on one.
func Of(dir string) *Facts {
	if _, s := cardOf(dir); s != nil {
		return &s.Facts
	}
	return nil
}

// cardOf gives the directory and the state of the card that dir is on; nil: it is not on one.
func cardOf(dir string) (home string, s *state) {
	sys, err := procsample.Linux()
	if err != nil {
		return "", nil
	}
	on := sys.DeviceOf(dir).On
	if len(on) != 1 || !strings.HasPrefix(on[0], "loop") {
		return "", nil
	}
	image, err := backingFile(on[0])
	if err != nil || filepath.Base(image) != imageName {
		return "", nil
	}
	home = filepath.Dir(image)
	if s, err = readState(home); err != nil {
		return "", nil
	}
	return home, s
}

// backingFile is the file that a loop device shows; os.ErrNotExist if it shows none.
func backingFile(loop string) (string, error) {
	b, err := os.ReadFile(filepath.Join("/sys/block", loop, "loop/backing_file"))
	if err != nil {
		return "", err
	}
	// The kernel marks a file that has lost its name.
	return strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), " (deleted)"), nil
}

// state is the state file of a card: what must be known to take it away again.
type state struct {
	Format  string   `json:"format"`
	Version int      `json:"version"`
	Facts   Facts    `json:"facts"`
	Loop    string   `json:"loop"`        // loopN; empty: not attached yet
	Number  string   `json:"major_minor"` // of the loop device
	Limits  limiting `json:"limits_as_set"`
}

const (
	stateFormat  = "tpccbench.emulation"
	stateVersion = 1
)

// Names of what a card's directory holds.
const (
	dirPrefix = "tpccbench-emulate-"
	imageName = "card.img"
	mountName = "mnt"
	stateName = "state.json"
)

func readState(dir string) (*state, error) {
	path := filepath.Join(dir, stateName)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := new(state)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%s: not the state of an emulated card: %w", path, err)
	}
	if s.Format != stateFormat || s.Version != stateVersion {
		return nil, fmt.Errorf("%s: format %q version %d; this program reads %q version %d", path, s.Format, s.Version, stateFormat, stateVersion)
	}
	return s, nil
}

// write puts the state into the directory: the file is there whole, or as it was before.
func (s *state) write(dir string) error {
	s.Format, s.Version = stateFormat, stateVersion
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	fresh := filepath.Join(dir, stateName+".new")
	if err := os.WriteFile(fresh, append(b, '\n'), 0o644); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return os.Rename(fresh, filepath.Join(dir, stateName))
}

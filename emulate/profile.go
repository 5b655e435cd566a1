package emulate

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

//go:embed profiles.toml
var profilesTOML []byte

// Profile is a card that can be emulated: what it gives at most, in a second. MB is 1,000,000 bytes.
type Profile struct {
	Name        string  `toml:"name"`
	About       string  `toml:"about"` // in words
	WriteMBPerS float64 `toml:"write_mb_per_s"`
	ReadMBPerS  float64 `toml:"read_mb_per_s"`
	WritesPerS  int64   `toml:"writes_per_s"`
	ReadsPerS   int64   `toml:"reads_per_s"`
}

// Limits gives the profile's limits in the units of the controller.
func (p *Profile) Limits() Limits {
	return Limits{
		WriteBytesPerS: int64(p.WriteMBPerS * 1e6), ReadBytesPerS: int64(p.ReadMBPerS * 1e6),
		WritesPerS: p.WritesPerS, ReadsPerS: p.ReadsPerS,
	}
}

// Limits are what a device gives at most in a second.
type Limits struct {
	WriteBytesPerS int64 `json:"write_bytes_per_s"`
	ReadBytesPerS  int64 `json:"read_bytes_per_s"`
	WritesPerS     int64 `json:"writes_per_s"` // requests, of whatever size
	ReadsPerS      int64 `json:"reads_per_s"`
}

func (l Limits) String() string {
	return fmt.Sprintf("writes %.4g MB/s and %d/s, reads %.4g MB/s and %d/s",
		float64(l.WriteBytesPerS)/1e6, l.WritesPerS, float64(l.ReadBytesPerS)/1e6, l.ReadsPerS)
}

// Profiles lists the profiles that there are.
func Profiles() []Profile { return slices.Clone(profiles) }

var profiles = func() []Profile {
	list, err := parseProfiles(profilesTOML)
	if err != nil {
		panic(err) // the embedded file is wrong
	}
	return list
}()

func parseProfiles(text []byte) ([]Profile, error) {
	var doc struct {
		Profile []Profile `toml:"profile"`
	}
	err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&doc)
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		return nil, fmt.Errorf("profiles: unknown keys:\n%s", unknown.String())
	}
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	seen := map[string]bool{}
	for _, p := range doc.Profile {
		switch l := p.Limits(); {
		case p.Name == "" || strings.ContainsAny(p.Name, "@:/ "):
			return nil, fmt.Errorf("profiles: the name %q is empty or has a character of @:/ or a blank", p.Name)
		case seen[p.Name]:
			return nil, fmt.Errorf("profiles: %s is there twice", p.Name)
		case p.About == "":
			return nil, fmt.Errorf("profiles: %s has no about", p.Name)
		case min(l.WriteBytesPerS, l.ReadBytesPerS, l.WritesPerS, l.ReadsPerS) < 1:
			return nil, fmt.Errorf("profiles: %s: each rate must be at least 1", p.Name)
		}
		seen[p.Name] = true
	}
	if len(doc.Profile) == 0 {
		return nil, errors.New("profiles: there is none")
	}
	return doc.Profile, nil
}

// Prefix begins a device's place that is an emulated card.
const Prefix = "emulate:"

// Card says which card to make and where.
type Card struct {
	Profile Profile
	Dir     string // where its file is made
}

// DefaultDir is where the file of a card is made when nobody said: on a disk, on most machines.
const DefaultDir = "/var/tmp"

// Is says whether the place of a device is an emulated card and no directory.
func Is(place string) bool { return strings.HasPrefix(place, Prefix) }

// Parse reads emulate:PROFILE or emulate:PROFILE@DIR.
func Parse(place string) (Card, error) {
	name, dir, hasDir := strings.Cut(strings.TrimPrefix(place, Prefix), "@")
	if !Is(place) || hasDir && dir == "" {
		return Card{}, fmt.Errorf("%q: it must be emulate:PROFILE or emulate:PROFILE@DIR", place)
	}
	if !hasDir {
		dir = DefaultDir
	}
	var names []string
	for _, p := range profiles {
		if p.Name == name {
			return Card{Profile: p, Dir: dir}, nil
		}
		names = append(names, p.Name)
	}
	return Card{}, fmt.Errorf("%q: there is no profile %q; there are: %s", place, name, strings.Join(names, ", "))
}

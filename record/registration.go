package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// RegistrationFormat and RegistrationVersion identify the format of registration.json. In version 1 the plan's SHA-256
// was of form 1 (matrix.IdentityForm1), there was no PlanForm and no BuildSettings, and raw.sha256 was not written.
const (
	RegistrationFormat  = "tpccbench.registration"
	RegistrationVersion = 2
)

// RegistrationName is the name of the file in a study's folder.
const RegistrationName = "registration.json"

// StudyRegistration is registration.json: what was fixed before the first measurement of a study. It is written once and
// never changed.
type StudyRegistration struct {
	Format      string       `json:"format"`
	Version     int          `json:"version"`
	Study       string       `json:"study"` // the plan's name
	Registered  time.Time    `json:"registered"`
	Plan        Registration `json:"plan"`
	PlanForm    int          `json:"plan_form,omitempty"` // form of Plan.PlanSHA256: see matrix.Plan.SHA256Form
	Exploratory []string     `json:"why_exploratory,omitempty"`
	Build       Build        `json:"build"`
	// BuildSettings is what the Go toolchain noted of the build, by its names: -ldflags, -tags, CGO_CFLAGS, GOAMD64, vcs
	// and so on. What GOFLAGS set is there under the flag's own name.
	BuildSettings map[string]string `json:"build_settings,omitempty"`
	Machine       json.RawMessage   `json:"machine"`
}

// ReadRegistration reads registration.json of a study's folder, of this version or an older one. The error wraps
// fs.ErrNotExist if there is none.
func ReadRegistration(study string) (*StudyRegistration, error) {
	path := filepath.Join(study, RegistrationName)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := new(StudyRegistration)
	if err := json.Unmarshal(b, f); err != nil {
		return nil, fmt.Errorf("%s: not a registration, or cut short: %w", path, err)
	}
	if f.Format != RegistrationFormat || f.Version < 1 || f.Version > RegistrationVersion {
		return nil, fmt.Errorf("%s: format %q version %d; this program reads %q version 1 to %d",
			path, f.Format, f.Version, RegistrationFormat, RegistrationVersion)
	}
	if f.Version == 1 {
		f.PlanForm = 1
	}
	return f, nil
}

// WriteRegistration writes registration.json of a study's folder, durably. It refuses to replace one.
func WriteRegistration(study string, f *StudyRegistration) error {
	b, err := json.MarshalIndent(f, "", " ")
	if err != nil {
		return err
	}
	path := filepath.Join(study, RegistrationName)
	if err := writeNew(path, append(b, '\n')); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and a registration is never changed", path)
	} else if err != nil {
		return err
	}
	return nil
}

// Standing is what a run counts as: "registered"; "exploratory"; "quick"; or "exploratory quick". Only the figures of a
// registered run are results under the plan.
func (r *Registration) Standing() string {
	switch {
	case r.Exploratory && r.Quick:
		return "exploratory quick"
	case r.Exploratory:
		return "exploratory"
	case r.Quick:
		return "quick"
	}
	return "registered"
}

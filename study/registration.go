package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tpccbench/matrix"
	"tpccbench/record"
)

// registrationFormat and registrationVersion identify the format of registration.json.
const (
	registrationFormat  = "tpccbench.registration"
	registrationVersion = 1
)

// registrationFile is written before the first measurement of a study and never changed.
type registrationFile struct {
	Format      string              `json:"format"`
	Version     int                 `json:"version"`
	Study       string              `json:"study"`
	Registered  time.Time           `json:"registered"`
	Plan        record.Registration `json:"plan"`
	Exploratory []string            `json:"why_exploratory,omitempty"`
	Build       record.Build        `json:"build"`
	Machine     json.RawMessage     `json:"machine"`
}

// register decides whether runs of the plan in the file count as registered: git has the plan's file committed
// unchanged, and the program was built from a clean commit. Otherwise they are exploratory, and why says why. A quick run
// is marked as that, which is not the same.
func register(plan *matrix.Plan, planPath string, quick bool, build record.Build) (reg record.Registration, why []string) {
	reg = record.Registration{PlanSHA256: plan.SHA256(), Quick: quick}
	commit, err := committedUnchanged(planPath)
	if err != nil {
		why = append(why, fmt.Sprintf("the plan is not committed unchanged: %v", err))
	}
	reg.PlanCommit = commit
	switch {
	case build.ToolCommit == "":
		why = append(why, "the program does not know the commit that it was built from (./runs.sh builds it with that)")
	case build.ToolModified:
		why = append(why, "the program was built from a changed checkout")
	}
	reg.Exploratory = len(why) > 0
	return reg, why
}

// committedUnchanged returns the commit that last changed the file, if the file is tracked by git and equal to HEAD's.
func committedUnchanged(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	git := func(args ...string) (string, error) {
		cmd := exec.Command("git", append([]string{"-C", filepath.Dir(abs)}, args...)...)
		cmd.Env = slices.DeleteFunc(os.Environ(), namesRepository)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			if s := strings.TrimSpace(stderr.String()); s != "" {
				err = errors.New(s)
			}
			return "", err
		}
		return strings.TrimSpace(string(out)), nil
	}
	name := filepath.Base(abs)
	if _, err := exec.LookPath("git"); err != nil {
		return "", errors.New("git is not installed")
	}
	if _, err := git("ls-files", "--error-unmatch", "--", ":(literal)"+name); err != nil {
		return "", fmt.Errorf("%s is not tracked by git", name)
	}
	if changed, err := git("status", "--porcelain", "--", ":(literal)"+name); err != nil {
		return "", err
	} else if changed != "" {
		return "", fmt.Errorf("%s differs from the committed one", name)
	}
	// The index can be told to pass over changes (assume-unchanged); the content cannot.
	committed, err := git("rev-parse", "HEAD:./"+name)
	if err != nil {
		return "", err
	}
	if content, err := git("hash-object", "--", name); err != nil {
		return "", err
	} else if content != committed {
		return "", fmt.Errorf("%s differs from the committed one", name)
	}
	commit, err := git("log", "-1", "--format=%H", "--", ":(literal)"+name)
	if err == nil && commit == "" {
		err = fmt.Errorf("no commit has %s", name)
	}
	return commit, err
}

// namesRepository says whether an environment variable, NAME=VALUE, would make git look into another repository than
// the file's.
func namesRepository(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	switch name {
	case "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX":
		return true
	}
	return false
}

// readRegistration reads registration.json of a study's folder; nil without error if there is none.
func readRegistration(out string) (*registrationFile, error) {
	path := filepath.Join(out, "registration.json")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f := new(registrationFile)
	if err := json.Unmarshal(b, f); err != nil {
		return nil, fmt.Errorf("%s: not a registration, or cut short: %w", path, err)
	}
	if f.Format != registrationFormat || f.Version != registrationVersion {
		return nil, fmt.Errorf("%s: format %q version %d; this program reads %q version %d",
			path, f.Format, f.Version, registrationFormat, registrationVersion)
	}
	return f, nil
}

// writeFile replaces the file by the content, so that it is there whole or as it was.
func writeFile(path string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Sync(), tmp.Close())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.Rename(tmp.Name(), path)
}

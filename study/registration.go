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
	"tpccbench/procsample"
	"tpccbench/record"
)

// register registers the plan in the study's new folder, before the first measurement.
func (s *Study) register() error {
	if err := s.clearOut(); err != nil {
		return err
	}
	build := ReadBuild()
	reg, why := standing(s.plan, s.o.PlanPath, build)
	sys, err := procsample.Linux()
	if err != nil {
		return err
	}
	machine, err := json.Marshal(sys.Machine())
	if err != nil {
		return err
	}
	if err := os.Mkdir(s.rawDir(), 0o755); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(s.o.Out, planName), s.plan.Source()); err != nil {
		return err
	}
	err = record.WriteRegistration(s.o.Out, &record.StudyRegistration{
		Format: record.RegistrationFormat, Version: record.RegistrationVersion, Study: s.plan.Name, Registered: time.Now().UTC(),
		Plan: reg, PlanForm: matrix.IdentityForm, Exploratory: why, Build: build, BuildSettings: buildSettings(), Machine: machine,
	})
	if err != nil {
		return err
	}
	s.reg = reg
	for _, w := range why {
		s.logf("this study is exploratory: %s", w)
	}
	s.note(fmt.Sprintf("registered: %s, plan %s, SHA-256 %s, commit %s; program %s", reg.Standing(), s.plan.Name, reg.PlanSHA256,
		orNone(reg.PlanCommit), orNone(build.ToolCommit)))
	return nil
}

// clearOut makes sure that the folder is empty. What a study leaves that was killed before it was registered is removed:
// nothing was measured under it.
func (s *Study) clearOut() error {
	entries, err := os.ReadDir(s.o.Out)
	if err != nil {
		return fmt.Errorf("--out %s: %w", s.o.Out, err)
	}
	for _, e := range entries {
		if name := e.Name(); name != planName && name != "raw" && !strings.HasPrefix(name, ".tmp-") {
			return fmt.Errorf("%s is not empty and holds no study; give another --out", s.o.Out)
		}
	}
	if err := os.Remove(s.rawDir()); err != nil && !errors.Is(err, fs.ErrNotExist) { // fails if records are in it
		return fmt.Errorf("%s holds no study, but records; give another --out: %w", s.o.Out, err)
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(s.o.Out, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// planName is the file in a study's folder that holds the plan as it was registered.
const planName = "plan.toml"

// takeUp goes on with the study that is in the folder, if it is this one, and its records are those that were written.
func (s *Study) takeUp(old *record.StudyRegistration) error {
	build := ReadBuild()
	reg, why := standing(s.plan, s.o.PlanPath, build)
	switch {
	case old.Plan.Quick && !reg.Quick:
		return fmt.Errorf("%s holds a quick run; go on with it by --quick, or give another --out", s.o.Out)
	case reg.Quick && !old.Plan.Quick:
		return fmt.Errorf("%s holds a study that is no quick run; go on with it without --quick, or give another --out", s.o.Out)
	}
	if err := s.checkPlan(old); err != nil {
		return err
	}
	if reg.Exploratory && !old.Plan.Exploratory {
		return fmt.Errorf("%s was registered, and to go on now would be exploratory: %s", s.o.Out, why[0])
	}
	s.reg = old.Plan
	if err := s.checkSums(); err != nil {
		return err
	}
	var err error
	if s.runs, err = record.ReadDir(s.rawDir()); err != nil {
		return err
	}
	for _, w := range old.Exploratory {
		s.logf("this study is exploratory: %s", w)
	}
	s.note(fmt.Sprintf("resumed with %d runs recorded; program %s", len(s.runs), orNone(build.ToolCommit)))
	if build.ToolCommit != old.Build.ToolCommit {
		s.logf("this program was built from commit %s, the one that began the study from %s; each record has its own",
			orNone(build.ToolCommit), orNone(old.Build.ToolCommit))
	}
	return nil
}

// orNone is the commit, or says that there is none.
func orNone(commit string) string {
	if commit == "" {
		return "none"
	}
	return commit
}

// checkPlan refuses to go on under another plan than the one that was registered, and says what differs.
func (s *Study) checkPlan(old *record.StudyRegistration) error {
	path := filepath.Join(s.o.Out, planName)
	registered, err := matrix.Read(path)
	if err != nil {
		return fmt.Errorf("the plan that was registered cannot be read: %w", err)
	}
	if old.Plan.Quick {
		registered = registered.Quick()
	}
	sum, err := registered.SHA256Form(old.PlanForm)
	if err != nil {
		return fmt.Errorf("%s: %w", s.o.Out, err)
	}
	if sum != old.Plan.PlanSHA256 {
		return fmt.Errorf("%s was altered since it was registered: its SHA-256 is %.12s, registered was %.12s; put the original back",
			path, sum, old.Plan.PlanSHA256)
	}
	if d := s.plan.FirstDifference(registered); d != "" {
		return fmt.Errorf("%s was changed since it was registered in %s: %s; a changed plan is another study, give another --out",
			s.o.PlanPath, s.o.Out, d)
	}
	return nil
}

// checkSums refuses to go on with records that are not those that were written. One that was written and whose line in
// raw.sha256 was not, because the study was killed in between, gets its line now, under a note.
func (s *Study) checkSums() error {
	sums, err := record.ReadSums(s.o.Out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if torn, err := sums.Mend(s.o.Out); err != nil {
		return err
	} else if torn {
		s.note("the last line of " + record.SumsName + " was torn, and is cut off")
	}
	d, err := sums.Compare(s.o.Out)
	switch {
	case err != nil:
		return err
	case len(d.Altered) > 0:
		return fmt.Errorf("%s: raw/%s was altered since it was written: its SHA-256 is not that in %s; put the original back, or begin "+
			"another study with another --out", s.o.Out, d.Altered[0], record.SumsName)
	case len(d.Gone) > 0:
		return fmt.Errorf("%s: raw/%s was written and is gone; put it back, or begin another study with another --out: no run is made "+
			"again because of its result", s.o.Out, d.Gone[0])
	}
	for _, name := range d.Unknown {
		note := fmt.Sprintf("%s: the record of the next line was there without one when the study was resumed", time.Now().UTC().Format(time.RFC3339))
		if err := record.AppendSum(s.o.Out, name, note); err != nil {
			return err
		}
		s.note("raw/" + name + " had no line in " + record.SumsName + "; it has one now")
	}
	return nil
}

// standing decides whether runs of the plan in the file count as registered: git has the plan's file committed
// unchanged, and the program was built from a clean commit. Otherwise they are exploratory, and why says why. A quick run
// is marked as that, which is not the same.
func standing(plan *matrix.Plan, planPath string, build record.Build) (reg record.Registration, why []string) {
	reg = record.Registration{PlanSHA256: plan.SHA256(), Quick: plan.IsQuick}
	commit, err := PlanCommit(planPath)
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

// PlanCommit is the commit that has the plan's file unchanged: the one that last changed it, if the file is tracked by git
// and equal to HEAD's. The error says why there is none.
func PlanCommit(path string) (string, error) {
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

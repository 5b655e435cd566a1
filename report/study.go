package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tpccbench/matrix"
	"tpccbench/record"
)

// Files of a study's folder.
const (
	planFile    = "plan.toml"
	rawDir      = "raw"
	choicesFile = "choices.json"
	csvFile     = "matrix.csv"
	seriesDir   = "series"
)

// Study is a study's folder as Load found it: everything is recomputed from the raw records and the stored plan.
type Study struct {
	Dir          string
	Registration record.StudyRegistration
	Plan         *matrix.Plan // as it was run: the quick one of a quick study; nil if plan.toml cannot be read
	Gates        []*record.EqualGate
	Runs         []*record.Run // all that belong to the study, failed ones too, in the order in which they began
	Cells        []*Cell       // of the matrix, in the order of the plan
	Tunings      []*Tuning     // in the order of the plan
	Pairs        []Pair        // A/A pairs, in the order of the plan
	Verdicts     []Verdict     // of the plan's decisions, in its order
	Problems     []Problem     // what is wrong, in the order of the checks
	Notes        []string      // what a reader must know, and what could not be checked

	excluded   map[string]string // why a run is no result, by its name
	hashesKept bool              // raw.sha256 is there and can be read
	invalid    string            // why no decision can be taken at all; empty: none
}

// Load reads the study in dir, checks it and evaluates it. What is wrong with a part of it is among Study.Problems; the
// error is for a folder that holds no study.
func Load(dir string) (*Study, error) {
	s := &Study{Dir: dir, excluded: map[string]string{}}
	reg, err := record.ReadRegistration(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no study: %w", dir, err)
	}
	if err != nil {
		return nil, err
	}
	s.Registration = *reg
	if err := s.readPlan(); err != nil {
		return nil, err
	}
	if err := s.checkSums(); err != nil {
		return nil, err
	}
	if err := s.readRaw(); err != nil {
		return nil, err
	}
	if err := s.checkCSV(); err != nil {
		return nil, err
	}
	if err := s.checkSeries(); err != nil {
		return nil, err
	}
	s.checkOrigins()
	if s.Plan == nil {
		return s, nil
	}
	s.checkUnplanned()
	s.checkRuns(s.Plan.TuningRuns(), true)
	s.checkGates()
	s.tune()
	if err := s.checkChoices(); err != nil {
		return nil, err
	}
	chosen := s.chosenSettings()
	s.checkRuns(s.Plan.MatrixRuns(chosen), chosen != nil)
	s.fillCells(chosen)
	s.pairUp()
	s.decide()
	return s, nil
}

// Standing is "registered", "exploratory", "quick" or "exploratory quick": what every output begins with. A study is
// exploratory if its plan or program was not committed unchanged before the run, if a record says so, or if the plan
// was changed since.
func (s *Study) Standing() string {
	all := s.Registration.Plan
	for _, r := range s.Runs {
		all.Exploratory = all.Exploratory || r.Registration.Exploratory || r.Build.ToolModified || r.Build.ToolCommit == ""
		all.Quick = all.Quick || r.Registration.Quick
	}
	for _, g := range s.Gates {
		all.Exploratory = all.Exploratory || g.Registration.Exploratory
		all.Quick = all.Quick || g.Registration.Quick
	}
	all.Exploratory = all.Exploratory || s.invalid != ""
	return all.Standing()
}

// Emulations names the devices that were emulated cards, each as NAME (emulated: PROFILE).
func (s *Study) Emulations() []string {
	var found []string
	for _, r := range s.Runs {
		if text := r.DeviceText(); r.Emulation() != "" && !slices.Contains(found, text) {
			found = append(found, text)
		}
	}
	return found
}

// WhyStanding explains Standing in one sentence.
func (s *Study) WhyStanding() string {
	var why []string
	switch {
	case s.invalid != "":
		why = append(why, s.invalid)
	case len(s.Registration.Exploratory) > 0:
		why = append(why, s.Registration.Exploratory...)
	case strings.Contains(s.Standing(), "exploratory"):
		why = append(why, "not every record was made with plan and program committed unchanged before the run")
	}
	if strings.Contains(s.Standing(), "quick") {
		why = append(why, "the runs were short, which are no results")
	}
	if len(why) == 0 {
		return "plan and program were committed unchanged before the run"
	}
	return strings.Join(why, "; ")
}

// Run returns the record of that name (PHASE-CELL-rN), if the study has it.
func (s *Study) Run(name string) (*record.Run, bool) {
	i := slices.IndexFunc(s.Runs, func(r *record.Run) bool { return r.Name() == name })
	if i < 0 {
		return nil, false
	}
	return s.Runs[i], true
}

// Excluded says why the run of that name is no result: it failed, is missing or was altered. Empty: it is one.
func (s *Study) Excluded(name string) string {
	if reason, ok := s.excluded[name]; ok {
		return reason
	}
	if _, ok := s.Run(name); !ok {
		return "there is no record of it"
	}
	return ""
}

func (s *Study) path(name string) string { return filepath.Join(s.Dir, name) }

// readPlan reads plan.toml and holds it against the registered hash.
func (s *Study) readPlan() error {
	b, err := os.ReadFile(s.path(planFile))
	if errors.Is(err, fs.ErrNotExist) {
		s.invalid = "the stored plan is gone"
		s.problem(Missing, planFile, "the plan as it was registered is gone")
		return nil
	}
	if err != nil {
		return err
	}
	plan, err := matrix.Parse(planFile, b)
	if err != nil {
		s.invalid = "the stored plan cannot be read"
		s.problem(Unreadable, planFile, "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
		return nil
	}
	if s.Registration.Plan.Quick {
		plan = plan.Quick()
	}
	s.Plan = plan
	registered := s.Registration.Plan.PlanSHA256
	sum, err := plan.SHA256Form(s.Registration.PlanForm)
	switch {
	case err != nil:
		s.invalid = "the plan's registration cannot be checked"
		s.problem(Altered, record.RegistrationName, "plan_form is %d: %v", s.Registration.PlanForm, err)
	case sum != registered:
		s.invalid = "the stored plan is not the one that was registered"
		s.problem(Altered, planFile, "SHA-256 of what it says is %s; %s has %s: one of the two was changed after the registration",
			sum, record.RegistrationName, registered)
	case s.Registration.PlanForm == matrix.IdentityForm1 && s.hasYoungerKeys():
		s.invalid = "the stored plan is not the one that was registered"
		s.problem(Altered, planFile, "it has twin_of or min_rounds, or another key that there was not when it was registered")
	}
	if plan.Name != s.Registration.Study {
		s.problem(Altered, record.RegistrationName, "study is %q; the plan's name is %q", s.Registration.Study, plan.Name)
	}
	return nil
}

// hasYoungerKeys reports whether the plan has keys that form 1 of its identity passes over.
func (s *Study) hasYoungerKeys() bool {
	return len(s.Plan.Twins()) > 0 ||
		slices.ContainsFunc(s.Plan.Tunings, func(t matrix.Tuning) bool { return t.Name != t.Device }) ||
		slices.ContainsFunc(s.Plan.Rows, func(r matrix.Row) bool { return len(r.Rates) > 0 || r.Transport != matrix.TransportInProcess }) ||
		slices.ContainsFunc(s.Plan.Decisions, func(d matrix.Decision) bool { return d.MinRounds != matrix.DefaultMinRounds })
}

// sameJSON reports whether two texts are the same JSON value, blanks aside.
func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

package report

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"tpccbench/matrix"
	"tpccbench/record"
)

// readRaw reads all raw records and holds them against the registration. One that is named as altered, unreadable,
// foreign or duplicated is no result.
func (s *Study) readRaw() error {
	entries, err := os.ReadDir(s.path(rawDir))
	if err != nil {
		return fmt.Errorf("%s holds no raw records: %w", s.Dir, err)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") {
			continue // of a write that did not end
		}
		file := path.Join(rawDir, name)
		if e.IsDir() || !strings.HasSuffix(name, ".json") {
			s.problem(Foreign, file, "no raw record; nothing else belongs here")
			continue
		}
		if err := s.readRecord(file, strings.TrimSuffix(name, ".json")); err != nil {
			return err
		}
	}
	slices.SortStableFunc(s.Runs, func(a, b *record.Run) int { return a.Started.Compare(b.Started) })
	return nil
}

// checkSums holds the records against raw.sha256. Older studies have none.
func (s *Study) checkSums() error {
	sums, err := record.ReadSums(s.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.Registration.Version == 1:
		s.note("no hashes were kept of the raw records (no %s): an edit of one is found only where it contradicts itself or %s",
			record.SumsName, csvFile)
		return nil
	case errors.Is(err, fs.ErrNotExist):
		if entries, err := os.ReadDir(s.path(rawDir)); err == nil && len(entries) > 0 {
			s.problem(Missing, record.SumsName, "there are raw records, and no hashes of them")
		}
		return nil
	case errors.Is(err, fs.ErrPermission):
		return err
	case err != nil:
		s.problem(Unreadable, record.SumsName, "%s", strings.TrimPrefix(err.Error(), s.path(record.SumsName)+":"))
		return nil
	}
	s.hashesKept = true
	d, err := sums.Compare(s.Dir)
	if err != nil {
		return err
	}
	for _, what := range []struct {
		kind         Kind
		names        []string
		text, reason string
	}{
		{Altered, d.Altered, "its SHA-256 is not the one in %s", "its record was altered"},
		{Missing, d.Gone, "%s has its hash, and the record is gone", "its record was removed"},
		{Foreign, d.Unknown, "%s has no hash of it: the study was killed just after it was written and not resumed, or it was added",
			"its record has no hash"},
	} {
		for _, name := range what.names {
			s.problem(what.kind, path.Join(rawDir, name), what.text, record.SumsName)
			s.exclude(strings.TrimSuffix(name, ".json"), what.reason)
		}
	}
	return nil
}

// readRecord reads one raw record, of a run or of an equality gate. id is the file's name without .json.
func (s *Study) readRecord(file, id string) error {
	unreadable := func(err error) error {
		if errors.Is(err, fs.ErrPermission) {
			return err
		}
		s.problem(Unreadable, file, "%s", strings.TrimPrefix(err.Error(), s.path(file)+": "))
		s.exclude(id, "its record cannot be read")
		return nil
	}
	var name, study string
	var reg record.Registration
	var started time.Time
	var keep func()
	if strings.HasPrefix(id, "gate-") {
		g, err := record.ReadGate(s.path(file))
		if err != nil {
			return unreadable(err)
		}
		name, study, reg, started = "gate-"+g.Name, g.Study, g.Registration, g.Started
		keep = func() { s.Gates = append(s.Gates, g) }
	} else {
		r, err := record.Read(s.path(file))
		if err != nil {
			return unreadable(err)
		}
		name, study, reg, started = r.Name(), r.Study, r.Registration, r.Started
		keep = func() {
			s.Runs = append(s.Runs, r)
			if what := contradiction(r); what != "" {
				s.problem(Altered, file, "it contradicts itself: %s", what)
				s.exclude(id, "its record was altered")
			}
			if r.Status != record.OK {
				s.problem(Failed, file, "%s: %s", r.Gate, oneLine(r.Reason))
				s.exclude(id, fmt.Sprintf("it broke the gate %s: %s", r.Gate, oneLine(r.Reason)))
			}
		}
	}
	if name != id {
		s.misnamed(file, id, name)
		return nil
	}
	if study != s.Registration.Study {
		s.problem(Foreign, file, "it is of study %q, not %q", study, s.Registration.Study)
		s.exclude(id, "its record is of another study")
		return nil
	}
	if what := s.registrationDifference(reg); what != "" {
		s.problem(Foreign, file, "%s", what)
		s.exclude(id, "its record is of another plan or registration")
		return nil
	}
	if started.Before(s.Registration.Registered) {
		s.problem(Altered, record.RegistrationName, "the study was registered at %s, after %s began at %s",
			s.Registration.Registered.Format(time.RFC3339), name, started.Format(time.RFC3339))
	}
	keep()
	return nil
}

// misnamed names a record that is not under its own name: another run's in its place, or a copy. Of two records of a
// run nobody can say which is the run's unless hashes were kept, by which the copy is named too.
func (s *Study) misnamed(file, id, name string) {
	s.exclude(id, "its record is that of "+name)
	if _, err := os.Stat(s.path(path.Join(rawDir, name+".json"))); err != nil {
		s.problem(Altered, file, "the record inside is %s: the file or the record was renamed", name)
		s.exclude(name, "its record was renamed")
		return
	}
	s.problem(Duplicated, file, "it is a second record of %s", name)
	if !s.hashesKept {
		s.exclude(name, "there are two records of it")
	}
}

// registrationDifference names in what a record's registration is not the study's; empty: it is the same.
func (s *Study) registrationDifference(r record.Registration) string {
	p := s.Registration.Plan
	switch {
	case r.PlanSHA256 != p.PlanSHA256:
		return fmt.Sprintf("plan_sha256 is %s; %s has %s", r.PlanSHA256, record.RegistrationName, p.PlanSHA256)
	case r.PlanCommit != p.PlanCommit:
		return fmt.Sprintf("plan_commit is %q; %s has %q", r.PlanCommit, record.RegistrationName, p.PlanCommit)
	case r.Exploratory != p.Exploratory:
		return fmt.Sprintf("exploratory is %v; %s has %v", r.Exploratory, record.RegistrationName, p.Exploratory)
	case r.Quick != p.Quick:
		return fmt.Sprintf("quick is %v; %s has %v", r.Quick, record.RegistrationName, p.Quick)
	}
	return ""
}

// checkGates holds the equality gates against the plan. A W whose gate failed, is missing or is another has no result.
func (s *Study) checkGates() {
	for _, g := range s.Gates {
		if !slices.ContainsFunc(s.Plan.Gates(), func(p matrix.Gate) bool { return p.Name == g.Name }) {
			s.problem(Foreign, path.Join(rawDir, "gate-"+g.Name+".json"), "the plan has no such gate")
		}
	}
	for _, p := range s.Plan.Gates() {
		file := path.Join(rawDir, p.ID()+".json")
		lacks := s.excluded[p.ID()]
		i := slices.IndexFunc(s.Gates, func(g *record.EqualGate) bool { return g.Name == p.Name })
		switch {
		case lacks != "":
		case i < 0:
			s.problem(Missing, file, "the plan's equality gate at W=%d has no record", p.W)
			lacks = "there is no record of it"
		case s.Gates[i].Status != record.OK:
			lacks = oneLine(firstOf(s.Gates[i].Reason, s.Gates[i].Difference))
			s.problem(Failed, file, "%s", lacks)
		default:
			if what := gateDifference(s.Gates[i], &p); what != "" {
				s.problem(Foreign, file, "%s", what)
				lacks = what
			}
		}
		if lacks == "" {
			continue
		}
		for _, r := range s.Runs {
			if r.Spec.W == p.W {
				s.exclude(r.Name(), fmt.Sprintf("the equality gate at W=%d was not passed: %s", p.W, lacks))
			}
		}
	}
}

func gateDifference(g *record.EqualGate, p *matrix.Gate) string {
	var engines []string
	digests := map[string]bool{}
	for _, e := range g.Engines {
		engines = append(engines, e.Engine)
		digests[e.RowsDigest] = true
	}
	switch {
	case g.W != p.W:
		return fmt.Sprintf("w is %d; the plan says %d", g.W, p.W)
	case g.Seed != p.Seed:
		return fmt.Sprintf("seed is %d; the plan says %d", g.Seed, p.Seed)
	case g.Transactions != p.Transactions:
		return fmt.Sprintf("transactions is %d; the plan says %d", g.Transactions, p.Transactions)
	case !slices.Equal(engines, p.Engines):
		return fmt.Sprintf("engines are %s; the plan says %s", strings.Join(engines, ", "), strings.Join(p.Engines, ", "))
	case len(digests) != 1:
		return "status is ok, but the engines' rows_digest differ"
	}
	return ""
}

// checkRuns holds the records against runs of the plan: each is there and was made as the plan says. The settings of
// the matrix are known only if the tuning could choose.
func (s *Study) checkRuns(runs []matrix.Run, settingsKnown bool) {
	missing := map[string][]int{} // rounds by PHASE-CELL
	var order []string
	planned, there := map[string]int{}, map[string]bool{} // by device
	for i := range runs {
		p := &runs[i]
		id := p.ID()
		_, named := s.excluded[id]
		_, recorded := s.Run(id)
		planned[p.Device]++
		there[p.Device] = there[p.Device] || recorded || named
	}
	for i := range runs {
		p := &runs[i]
		id := p.ID()
		if n := planned[p.Device]; !there[p.Device] {
			if n > 0 {
				s.problem(Missing, rawDir, "no record of any of the plan's %d runs of the %s on device %s: not run, or removed", n, p.Phase, p.Device)
			}
			planned[p.Device] = 0
			continue
		}
		r, ok := s.Run(id)
		if ok {
			if what := specDifference(r, p, settingsKnown); what != "" {
				s.problem(Foreign, path.Join(rawDir, id+".json"), "%s", what)
				s.exclude(id, "it was not run as the plan says: "+what)
			}
			continue
		}
		if _, named := s.excluded[id]; !named {
			cell := p.Phase + "-" + p.Cell
			if missing[cell] == nil {
				order = append(order, cell)
			}
			missing[cell] = append(missing[cell], p.Round)
		}
	}
	for _, cell := range order {
		s.problem(Missing, path.Join(rawDir, cell+"-r*.json"), "no record of the plan's %s: not run yet, or removed", roundsText(missing[cell]))
	}
}

// checkUnplanned names the runs that the plan has not.
func (s *Study) checkUnplanned() {
	planned := map[string]bool{}
	for _, p := range append(s.Plan.TuningRuns(), s.Plan.MatrixRuns(nil)...) {
		planned[p.ID()] = true
	}
	for _, r := range s.Runs {
		if !planned[r.Name()] {
			s.problem(Foreign, path.Join(rawDir, r.Name()+".json"), "the plan has no such run")
			s.exclude(r.Name(), "the plan has no such run")
		}
	}
}

// checkOrigins notes runs that were not made by the program, or not on the machine, that the study was registered with,
// as after a resume elsewhere.
func (s *Study) checkOrigins() {
	reg := &s.Registration
	programs, machines := map[string]int{}, map[string]int{}
	for _, r := range s.Runs {
		if c := r.Build.ToolCommit; c != reg.Build.ToolCommit {
			programs[c]++
		}
		if m := machineWords(r.Machine); m != machineWords(reg.Machine) {
			machines[m]++
		}
	}
	for _, c := range slices.Sorted(maps.Keys(programs)) {
		s.note("%s by another program (commit %s) than the study was registered with (%s)", wereMade(programs[c]), firstOf(c, "unknown"),
			firstOf(reg.Build.ToolCommit, "unknown"))
	}
	for _, m := range slices.Sorted(maps.Keys(machines)) {
		s.note("%s on another machine (%s) than the study was registered on", wereMade(machines[m]), m)
	}
}

func wereMade(n int) string {
	if n == 1 {
		return "1 run was made"
	}
	return fmt.Sprintf("%d runs were made", n)
}

// specDifference names in what a run was made otherwise than the plan says; empty: as it says. The settings of the
// matrix are known only if the tuning could choose.
func specDifference(r *record.Run, p *matrix.Run, settingsKnown bool) string {
	spec := &r.Spec
	settings := record.SettingsText(p.Settings)
	if !settingsKnown {
		settings = record.SettingsText(spec.Settings)
	}
	transport := spec.Transport
	if spec.InProcess() { // of versions 1 and 2 too, which have another word for it
		transport = record.TransportInProcess
	}
	for _, c := range []struct{ name, have, want string }{
		{"label", r.Row(), p.Label},
		{"candidate", r.Candidate, p.Candidate},
		{"order", fmt.Sprint(r.Order), fmt.Sprint(p.Order)},
		{"engine", spec.Engine, p.Engine},
		{"settings", record.SettingsText(spec.Settings), settings},
		{"device", spec.Device, p.Device},
		{"device_kind", spec.Kind, p.Kind},
		{"w", fmt.Sprint(spec.W), fmt.Sprint(p.W)},
		{"terminals", fmt.Sprint(spec.Terminals), fmt.Sprint(p.Terminals)},
		{"seed", fmt.Sprint(spec.Seed), fmt.Sprint(p.Seed)},
		{"mix", fmt.Sprint(spec.Mix), fmt.Sprint(p.Mix)},
		{"seconds", number(spec.Seconds), number(p.Seconds)},
		{"warm_up_seconds", number(spec.WarmUp), number(p.WarmUpSeconds)},
		{"transactions", fmt.Sprint(spec.Transactions), "0"},
		{"rate_tx_per_s", number(spec.RateTxPerS), number(p.RateTxPerS)},
		{"arrivals", spec.Arrivals, p.Arrivals},
		{"transport", transport, p.Transport},
		{"cpus", spec.CPUs, p.CPUs},
		{"load_cpus", spec.LoadCPUs, p.LoadCPUs},
	} {
		if c.have != c.want {
			return fmt.Sprintf("%s is %q; the plan says %q", c.name, c.have, c.want)
		}
	}
	return ""
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

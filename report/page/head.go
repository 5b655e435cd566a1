package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tpccbench/record"
	"tpccbench/report"
)

// fewProblems is how many problems are shown at once when there are many.
const fewProblems = 10

// head is what stands above the sections.
type head struct {
	Standing string // registered, exploratory, quick
	Why      string // the rest of the study's first line
	Class    string // of Standing
	Name     string
	Title    string
	Problems []report.Problem // of the study's integrity: the first few
	More     []report.Problem // the others
	// Incomplete is set if records are missing and nothing else is wrong.
	Incomplete bool
	Facts      []fact
	Notes      []string
}

// fact is one line of a list of names and values.
type fact struct {
	Name, Value string
	Code        bool
}

func headOf(s *report.Study) head {
	standing := s.Standing()
	h := head{Standing: standing, Why: strings.TrimPrefix(s.FirstLine(), standing), Name: s.Registration.Study, Notes: s.Notes, Class: "plain"}
	if standing != "registered" || len(s.Emulations()) > 0 {
		h.Class = "warned"
	}
	if s.Plan != nil {
		h.Title = s.Plan.Title
	}
	for _, p := range s.Problems {
		if p.IsIntegrity() {
			h.Problems = append(h.Problems, p)
		}
	}
	h.Incomplete = !slices.ContainsFunc(h.Problems, func(p report.Problem) bool { return p.Kind != report.Missing })
	if len(h.Problems) > 2*fewProblems {
		h.Problems, h.More = h.Problems[:fewProblems], h.Problems[fewProblems:]
	}
	add := func(name, value string) {
		if value != "" {
			h.Facts = append(h.Facts, fact{Name: name, Value: value})
		}
	}
	add("Runs", runsInWords(s))
	if first, last := times(s.Runs); !first.IsZero() {
		add("Measured", fmt.Sprintf("%s to %s UTC", first.UTC().Format("2 January 2006, 15:04"), last.UTC().Format("2 January 2006, 15:04")))
	}
	add("Registered", s.Registration.Registered.UTC().Format("2 January 2006, 15:04:05")+" UTC")
	add("Machine", machineInWords(s.Registration.Machine))
	commit := func(name, value string) {
		if value == "" {
			value = "none"
		}
		h.Facts = append(h.Facts, fact{name, value, true})
	}
	commit("Plan, SHA-256", s.Registration.Plan.PlanSHA256)
	commit("Plan, commit", s.Registration.Plan.PlanCommit)
	tool := s.Registration.Build.ToolCommit
	if s.Registration.Build.ToolModified {
		tool += ", changed"
	}
	commit("Program, commit", tool)
	return h
}

// runsInWords counts the timed runs, those that are results, and their transactions.
func runsInWords(s *report.Study) string {
	var results int
	var transactions float64
	for _, r := range s.Runs {
		if s.Excluded(r.Name()) == "" {
			results++
			transactions += r.Figures["attempts"]
		}
	}
	text := fmt.Sprintf("%s, %s passed every gate: %s transactions", counted(len(s.Runs), "timed run"),
		strings.TrimSuffix(counted(results, ""), " "), whole(transactions))
	if results == len(s.Runs) && results > 1 {
		text = fmt.Sprintf("%s, all passed every gate: %s transactions", counted(len(s.Runs), "timed run"), whole(transactions))
	}
	return text
}

// times are when the first run began and the last ended.
func times(runs []*record.Run) (first, last time.Time) {
	for _, r := range runs {
		if first.IsZero() || r.Started.Before(first) {
			first = r.Started
		}
		if r.Ended.After(last) {
			last = r.Ended
		}
	}
	return first, last
}

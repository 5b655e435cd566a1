package report

import (
	"fmt"
	"slices"
)

// Kind says what is wrong with a file of a study.
type Kind string

// Kinds of Problem.
const (
	Altered    Kind = "altered"    // it says something else than when it was written
	Missing    Kind = "missing"    // the plan or another file of the study asks for it
	Duplicated Kind = "duplicated" // it is there twice
	Foreign    Kind = "foreign"    // it belongs to another plan or study
	Unreadable Kind = "unreadable" // not of the format, or cut short
	Failed     Kind = "failed"     // the run or equality gate broke a gate: nobody tampered, but it is no result
)

// Problem is one thing that is wrong with a study.
type Problem struct {
	Kind Kind   `json:"kind"`
	File string `json:"file"` // within the study's folder
	Text string `json:"text"` // what differs from what
}

// String is FILE: KIND: TEXT.
func (p Problem) String() string { return fmt.Sprintf("%s: %s: %s", p.File, p.Kind, p.Text) }

// IsIntegrity reports whether the study is not whole and unchanged for it, as opposed to a run that failed honestly.
func (p Problem) IsIntegrity() bool { return p.Kind != Failed }

// IsWhole reports whether nothing was altered, is missing, is there twice, is foreign or cannot be read.
func (s *Study) IsWhole() bool { return !slices.ContainsFunc(s.Problems, Problem.IsIntegrity) }

func (s *Study) problem(kind Kind, file, format string, args ...any) {
	s.Problems = append(s.Problems, Problem{kind, file, fmt.Sprintf(format, args...)})
}

func (s *Study) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Notes, text) {
		s.Notes = append(s.Notes, text)
	}
}

// exclude takes a run or, by its ID, a gate out of the results; the first reason stays.
func (s *Study) exclude(id, reason string) {
	if _, ok := s.excluded[id]; !ok {
		s.excluded[id] = reason
	}
}

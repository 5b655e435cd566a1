package study

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"tpccbench/engines"
)

// Runner starts measuring processes.
type Runner struct {
	Exe     string // the program's own file, started with ChildCommand
	Engines []*engines.Factory

	// For tests.
	silence time.Duration  // how long a child may say nothing; 0: maxSilence
	limit   time.Duration  // how long a child may take; 0: the request's limit
	clocks  func() instant // nil: now
}

func (r *Runner) now() instant {
	if r.clocks != nil {
		return r.clocks()
	}
	return now()
}

func (r *Runner) factory(name string) (*engines.Factory, error) { return Engine(r.Engines, name) }

// Engine finds an engine by name. One that the program was built without is refused with what is missing.
func Engine(list []*engines.Factory, name string) (*engines.Factory, error) {
	var names []string
	for _, f := range list {
		if f.Name == name && f.Missing != "" {
			return nil, errors.New(f.Missing)
		}
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("there is no engine %q; there are: %s", name, strings.Join(names, ", "))
}

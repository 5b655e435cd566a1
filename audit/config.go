package audit

import (
	"errors"
	"fmt"
	"time"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// Config is what Run is told. All but Settings, MinWrites, Env, Under, Opening and Killed must be set.
type Config struct {
	Engine   engines.Factory   // Command's program must give Child one of the same name
	Settings map[string]string // of Engine
	// Dir holds the store: an empty one, which Run loads, or one that holds exactly tpcc.Population(Seed, Scale).
	Dir       string
	Scale     tpcc.Scale
	Weights   tpcc.Weights
	Terminals int
	Seed      uint64 // of population, terminals and moments
	Kills     int
	// The time from the child's being ready to its end is drawn between these two.
	MinRun, MaxRun time.Duration
	// MinWrites is how many acknowledged writes a life must have reached before it is killed, however long that takes,
	// so that a slow machine audits something too. Lives that are killed while they open the store are exempt.
	MinWrites int
	// Command starts the child: a program and its arguments. It inherits the environment, and Env.
	Command []string
	Env     []string
	// Under, if it is set, returns for each life the arguments that come before Command: a program that runs the child and
	// may kill it at a moment of its own, with SIGKILL, and then ends by SIGKILL as well: strace, which can do so at the
	// Nth call of fdatasync. MinRun says how long it may take.
	Under func(life int) []string
	// Opening, if it is set, is called while the store is opened to be audited, as engines.Options.Progress.
	Opening func(done, total int64)
	// Killed, if it is set, is called after each kill has been audited.
	Killed func(Kill)
}

// Validate says what is wrong with the configuration, or nil.
func (c *Config) Validate() error {
	if err := errors.Join(c.Scale.Validate(), c.Weights.Validate()); err != nil {
		return err
	}
	switch {
	case c.Engine.Open == nil:
		return errors.New("audit: no engine is given")
	case c.Engine.NotAStore:
		return fmt.Errorf("audit: engine %s keeps nothing that could be audited", c.Engine.Name)
	case c.Dir == "":
		return errors.New("audit: no directory is given")
	case c.Terminals < 1:
		return fmt.Errorf("audit: terminals is %d; it must be at least 1", c.Terminals)
	case c.Kills < 1:
		return fmt.Errorf("audit: kills is %d; it must be at least 1", c.Kills)
	case c.MinRun < 0 || c.MaxRun < c.MinRun:
		return fmt.Errorf("audit: a life of %v to %v is impossible", c.MinRun, c.MaxRun)
	case c.MinWrites < 0:
		return fmt.Errorf("audit: min writes is %d; it must be at least 0", c.MinWrites)
	case len(c.Command) == 0:
		return errors.New("audit: no command for the child is given")
	}
	return c.Engine.Check(engines.Options{Settings: c.Settings})
}

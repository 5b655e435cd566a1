package audit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"tpccbench/engines"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// openingShare is the share of lives, 1 in so many, that are killed while they open the store; never the first one.
const openingShare = 5

// Run kills c.Kills lives, one after the other, and audits the store after each. It stops at the first kill after which
// something is violated; that is in the Result and is no error. An error is everything else that makes an audit worth
// nothing or a store unusable: a child that ended by itself, a store that cannot be opened after a kill, a store that
// was not freshly loaded, lives that acknowledged nothing. The Result is what was found up to then.
func Run(ctx context.Context, c Config) (Result, error) {
	var result Result
	if err := c.Validate(); err != nil {
		return result, err
	}
	if err := c.prepare(); err != nil {
		return result, fmt.Errorf("audit of %s: %w", c.Engine.Name, err)
	}
	var (
		rnd     = rand.New(rand.NewPCG(c.Seed, 0x6b696c6c))
		acks    []consistency.Ack
		longest int64 // opening so far
	)
	for number := 1; number <= c.Kills; number++ {
		kill := Kill{Life: number, AfterNS: c.MinRun.Nanoseconds() + rnd.Int64N(int64(c.MaxRun-c.MinRun)+1)}
		if early := rnd.IntN(openingShare) == 0; early && longest > 0 {
			kill.WhileOpening, kill.AfterNS = true, rnd.Int64N(longest)
		}
		of, err := c.life(ctx, &kill)
		if err == nil {
			longest = max(longest, kill.OpenNS)
			acks = append(acks, of...)
			for i := range of {
				kill.Acknowledged[of[i].Type]++
				result.Acknowledged[of[i].Type]++
			}
			err = c.audit(&kill, acks)
		}
		if err != nil {
			return result, fmt.Errorf("audit of %s, seed %d, life %d: %w", c.Engine.Name, c.Seed, number, err)
		}
		result.Kills = append(result.Kills, kill)
		if c.Killed != nil {
			c.Killed(kill)
		}
		if len(kill.Violations) > 0 {
			return result, nil
		}
	}
	if result.Writes() == 0 {
		return result, fmt.Errorf("audit of %s: %d lives acknowledged nothing; let them live longer", c.Engine.Name, c.Kills)
	}
	return result, nil
}

func (c *Config) withStore(use func(engines.Engine) error) error {
	e, err := c.Engine.Open(c.Dir, engines.Options{Settings: c.Settings, Progress: c.Opening})
	if err != nil {
		return fmt.Errorf("open %s: %w", c.Dir, err)
	}
	err = use(e)
	if closeErr := e.Close(); closeErr != nil {
		err = errors.Join(err, fmt.Errorf("close %s: %w", c.Dir, closeErr))
	}
	return err
}

// prepare loads an empty store, and makes sure of one that is not.
func (c *Config) prepare() error {
	return c.withStore(func(e engines.Engine) error {
		err := e.Load(tpcc.Population(c.Seed, c.Scale))
		if err == nil {
			return nil
		}
		if !errors.Is(err, engines.ErrNotEmpty) {
			return fmt.Errorf("load %s: %w", c.Dir, err)
		}
		violations, err := consistency.Audit(nil, e.Snapshot, c.Scale, 0)
		if err != nil {
			return err
		}
		if len(violations) > 0 {
			return fmt.Errorf("%s does not hold a freshly loaded population of %+v: %s", c.Dir, c.Scale, violations[0])
		}
		return nil
	})
}

// audit opens the store and holds it to the acknowledgements of all lives. Each terminal of each life may have had one
// transaction done and not acknowledged.
func (c *Config) audit(kill *Kill, acks []consistency.Ack) error {
	started := time.Now()
	return c.withStore(func(e engines.Engine) error {
		kill.ReopenNS = time.Since(started).Nanoseconds()
		var err error
		if kill.Facts, err = e.Facts(); err != nil {
			return fmt.Errorf("facts: %w", err)
		}
		kill.Violations, err = consistency.Audit(acks, e.Snapshot, c.Scale, kill.Life*c.Terminals)
		return err
	})
}

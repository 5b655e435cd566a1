package driver

import (
	"errors"
	"fmt"
	"time"

	"tpccbench/tpcc"
)

// MaxTerminals bounds Config.Terminals.
const MaxTerminals = 4096

// MaxDuration bounds Config.WarmUp, Config.Duration and Config.Grace.
const MaxDuration = 30 * 24 * time.Hour

// DefaultGrace is the grace period of a Config that sets none.
const DefaultGrace = time.Minute

// Config says what to run. Either Duration or StopAfter is set.
type Config struct {
	Seed      uint64 // of the inputs, which depend on Seed, Scale, Weights and the terminal's number only
	Scale     tpcc.Scale
	Weights   tpcc.Weights
	Terminals int // each has a session and a goroutine; 1..MaxTerminals

	WarmUp   time.Duration // of a timed run: time before the measured window
	Duration time.Duration // of the measured window; 0: StopAfter decides
	// StopAfter is a number of transactions, over all terminals; 0: Duration decides. Each terminal runs an equal share
	// of them, the first ones one more if need be, so that the inputs do not depend on who was faster.
	StopAfter int64

	// Rate, if not 0, makes the loop an open one: so many transactions/s over all terminals have an intended start, by a
	// schedule that follows from Seed, Rate and Arrivals alone, whatever the engine does. A free terminal takes the next
	// one; latencies count from the intended start. MinRate..MaxRate.
	Rate float64
	// Arrivals is the kind of schedule; empty in a closed loop.
	Arrivals Arrivals

	// Grace is how long the engine may take, after the window, to answer what is in flight, and then to close the
	// sessions; 0 means DefaultGrace. It must cover an engine's longest pause, that of a checkpoint for example.
	Grace time.Duration

	// OnMeasureStart is called at the start of the measured window: before the terminals are released if there is no
	// warm-up. OnMeasureEnd is called at its end, once transactions no longer count; it is called if and only if
	// OnMeasureStart was. Both are called by the goroutine of Run, as near to the edge as the scheduler allows:
	// Result.StartHookLateNS and EndHookLateNS say how near.
	OnMeasureStart, OnMeasureEnd func()

	// OnSecond is called at each whole second of the window, counted backwards from its start in the warm-up, and once
	// more after OnMeasureEnd. It is called by the goroutine of Run; seconds that pass during a call are left out. It
	// has no influence on the inputs.
	OnSecond func(Live)

	// OnAck is called for each transaction that the engine has acknowledged, the warm-up's too, by the terminal's
	// goroutine before it goes on: calls for different terminals may be concurrent. Its time is in no latency.
	OnAck func(Ack)
}

// Ack is a transaction that the engine has acknowledged.
type Ack struct {
	Terminal int
	Number   int64        // of the input in the terminal's stream, from 0; failed transactions have one too
	Input    *tpcc.Input  // valid during the call
	Output   *tpcc.Output // valid during the call; the member of the type that Input has
}

// Validate says what is wrong with the configuration, or nil.
func (c *Config) Validate() error {
	if err := c.Scale.Validate(); err != nil {
		return fmt.Errorf("driver: %w", err)
	}
	if err := c.Weights.Validate(); err != nil {
		return fmt.Errorf("driver: %w", err)
	}
	if err := validateArrivals(c.Rate, c.Arrivals); err != nil {
		return err
	}
	if c.Terminals < 1 || c.Terminals > MaxTerminals {
		return fmt.Errorf("driver: terminals is %d; it must be 1..%d", c.Terminals, MaxTerminals)
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"warm-up", c.WarmUp}, {"duration", c.Duration}, {"grace period", c.Grace}} {
		if d.value < 0 || d.value > MaxDuration {
			return fmt.Errorf("driver: the %s is %s; it must be 0..%s", d.name, d.value, MaxDuration)
		}
	}
	switch {
	case c.StopAfter < 0:
		return fmt.Errorf("driver: the number of transactions is %d; it must be above 0, or 0 for a run by time", c.StopAfter)
	case c.StopAfter == 0 && c.Duration == 0:
		return errors.New("driver: neither a duration nor a number of transactions is set; set one")
	case c.StopAfter > 0 && c.Duration > 0:
		return fmt.Errorf("driver: both a duration (%s) and a number of transactions (%d) are set; set one",
			c.Duration, c.StopAfter)
	case c.StopAfter > 0 && c.WarmUp > 0:
		return fmt.Errorf("driver: a run of %d transactions measures all of them; it takes no warm-up (%s)",
			c.StopAfter, c.WarmUp)
	}
	return nil
}

func (c *Config) grace() time.Duration {
	if c.Grace == 0 {
		return DefaultGrace
	}
	return c.Grace
}

// share is the number of transactions that a terminal of a run of StopAfter transactions has to do.
func (c *Config) share(number int) int64 {
	share := c.StopAfter / int64(c.Terminals)
	if int64(number) < c.StopAfter%int64(c.Terminals) {
		share++
	}
	return share
}

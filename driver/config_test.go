package driver

import (
	"strings"
	"testing"
	"time"

	"tpccbench/tpcc"
)

// TestValidate proves that each impossible setting is refused with an error that names it, and before any session is
// opened.
func TestValidate(t *testing.T) {
	valid := Config{Scale: tpcc.TestScale(1), Weights: tpcc.StandardMix(), Terminals: 1, Duration: time.Second}
	if err := valid.Validate(); err != nil {
		t.Fatalf("a valid configuration: %v", err)
	}
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Scale.Warehouses = 0 }, "warehouses is 0"},
		{func(c *Config) { c.Weights = tpcc.Weights{} }, "weights 0,0,0,0,0"},
		{func(c *Config) { c.Terminals = 0 }, "terminals is 0; it must be 1..4096"},
		{func(c *Config) { c.Terminals = MaxTerminals + 1 }, "terminals is 4097"},
		{func(c *Config) { c.Duration = -1 }, "the duration is -1ns"},
		{func(c *Config) { c.Duration = MaxDuration + 1 }, "the duration is 720h"},
		{func(c *Config) { c.WarmUp = -time.Second }, "the warm-up is -1s"},
		{func(c *Config) { c.Grace = -time.Second }, "the grace period is -1s"},
		{func(c *Config) { c.StopAfter = -1 }, "the number of transactions is -1"},
		{func(c *Config) { c.Duration = 0 }, "neither a duration nor a number of transactions"},
		{func(c *Config) { c.StopAfter = 5 }, "both a duration (1s) and a number of transactions (5)"},
		{func(c *Config) { c.Duration, c.StopAfter, c.WarmUp = 0, 5, time.Second }, "it takes no warm-up (1s)"},
	} {
		cfg, engine := valid, &fakeEngine{}
		c.change(&cfg)
		result, err := Run(t.Context(), engine, cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error is %v; it must contain %q", err, c.want)
		}
		if result != nil || engine.sessions != 0 {
			t.Errorf("%s: result %v, %d sessions opened; want none", c.want, result, engine.sessions)
		}
	}
}

// TestShare proves that the terminals' shares of a number of transactions differ by at most one and sum up to it.
func TestShare(t *testing.T) {
	for _, c := range []Config{
		{Terminals: 1, StopAfter: 7}, {Terminals: 3, StopAfter: 20},
		{Terminals: 64, StopAfter: 5}, {Terminals: 4, StopAfter: 8},
	} {
		sum := int64(0)
		for i := range c.Terminals {
			share := c.share(i)
			if low := c.StopAfter / int64(c.Terminals); share < low || share > low+1 {
				t.Errorf("%d transactions over %d terminals: terminal %d has %d", c.StopAfter, c.Terminals, i, share)
			}
			sum += share
		}
		if sum != c.StopAfter {
			t.Errorf("%d transactions over %d terminals: the shares are %d together", c.StopAfter, c.Terminals, sum)
		}
	}
}

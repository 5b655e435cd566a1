package attack

import (
	"slices"
	"testing"
)

// TestRounds: the rounds' seeds count up from the one that is given, as many as the environment or the test says; by
// time there is one at least.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		name            string
		rounds, seconds string
		want            []uint64
		long            bool
	}{
		{name: "the test's own", want: []uint64{7, 8, 9}},
		{name: "rounds", rounds: "2", want: []uint64{7, 8}},
		{name: "rounds before time", rounds: "1", seconds: "3600", want: []uint64{7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TORTURE_SEED", "7")
			t.Setenv("TORTURE_ROUNDS", or(c.rounds, "0"))
			t.Setenv("TORTURE_SECONDS", or(c.seconds, "0"))
			a := New(t, 3)
			if got := slices.Collect(a.Rounds()); !slices.Equal(got, c.want) || a.Long() {
				t.Errorf("rounds %v, want %v; long %v", got, c.want, a.Long())
			}
		})
	}
	t.Run("time", func(t *testing.T) {
		t.Setenv("TORTURE_ROUNDS", "0")
		t.Setenv("TORTURE_SECONDS", "1")
		a := New(t, 3)
		for range a.Rounds() {
			a.length = 0
			a.Count("things", 2)
			if a.done == 5 {
				break
			}
		}
		if !a.Long() || a.done != 5 || a.counts[0].n != 10 {
			t.Errorf("after five rounds by time: %+v", a)
		}
	})
}

func or(text, unset string) string {
	if text == "" {
		return unset
	}
	return text
}

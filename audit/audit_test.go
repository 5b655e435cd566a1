package audit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tpccbench/audit"
	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
	"tpccbench/engines/null"
	"tpccbench/tpcc"
)

// childVariable in the environment makes this test's program an audit's child.
const childVariable = "TPCCBENCH_AUDIT_TEST_CHILD"

var (
	bufferingLiar = liar("buffers", buffers)
	droppingLiar  = liar("drops", drops)
	doublingLiar  = liar("doubles", doubles)
	unstarted     = failing("unstarted", func(string) error { return errors.New("no such luck") })
	moody         = failing("moody", refuseWhileMarked)
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	factories := []engines.Factory{model.Factory, bufferingLiar, droppingLiar, doublingLiar, unstarted, moody}
	fmt.Fprintln(os.Stderr, audit.Child(factories, os.Stdin, os.Stdout, audit.Acks()))
	os.Exit(1)
}

// failing is the model, whose Open fails as check says.
func failing(name string, check func(dir string) error) engines.Factory {
	f := model.Factory
	f.Name = name
	f.Open = func(dir string, opt engines.Options) (engines.Engine, error) {
		if os.Getenv(childVariable) != "" {
			if err := check(dir); err != nil {
				return nil, err
			}
		}
		return model.Factory.Open(dir, opt)
	}
	return f
}

// config is an audit of three short lives on a new store.
func config(t *testing.T, f engines.Factory) audit.Config {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return audit.Config{
		Engine: f, Dir: t.TempDir(), Scale: tpcc.TestScale(2), Weights: tpcc.StandardMix(), Terminals: 6, Seed: 11, Kills: 3,
		MinRun: 20 * time.Millisecond, MaxRun: 120 * time.Millisecond, MinWrites: 120,
		Command: []string{program}, Env: []string{childVariable + "=1"},
		Killed: func(k audit.Kill) {
			t.Logf("life %d: while opening %v, after %v: acknowledged %d, %d violations, settings %v",
				k.Life, k.WhileOpening, time.Duration(k.AfterNS), k.Acknowledged, len(k.Violations), k.Facts.Settings)
		},
	}
}

// TestHonest: an engine that keeps its promise passes, over several lives on one store, some of them killed while they
// open it; and a store that was loaded before is as good as an empty one.
func TestHonest(t *testing.T) {
	c := config(t, model.Factory)
	c.Kills = 8
	e, err := c.Engine.Open(c.Dir, engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.Load(tpcc.Population(c.Seed, c.Scale)), e.Close()); err != nil {
		t.Fatal(err)
	}
	result, err := audit.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range result.Violations() {
		t.Error(v)
	}
	opening := 0
	for _, k := range result.Kills {
		if k.WhileOpening {
			opening++
		}
	}
	if len(result.Kills) != c.Kills || opening == 0 || opening == c.Kills {
		t.Errorf("%d kills, %d of them while opening; there must be %d, some of each kind", len(result.Kills), opening, c.Kills)
	}
	for _, typ := range []tpcc.Type{tpcc.TxNewOrder, tpcc.TxPayment, tpcc.TxDelivery} {
		if result.Acknowledged[typ] == 0 {
			t.Errorf("no %s was acknowledged", typ)
		}
	}

	// The same directory again is no freshly loaded one.
	if _, err := audit.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "freshly loaded") {
		t.Errorf("an audit of a used store gives the error %v", err)
	}
}

// TestLiars: engines that acknowledge what is not stored, or store what was not asked for, are caught.
func TestLiars(t *testing.T) {
	for _, c := range []struct {
		factory engines.Factory
		finding string
	}{
		{bufferingLiar, "acknowledged"},
		{droppingLiar, "acknowledged"},
		{doublingLiar, "acknowledged"},
	} {
		t.Run(c.factory.Name, func(t *testing.T) {
			result, err := audit.Run(t.Context(), config(t, c.factory))
			if err != nil {
				t.Fatal(err)
			}
			violations := result.Violations()
			if len(violations) == 0 {
				t.Fatal("not caught")
			}
			t.Log(violations[0])
			for _, v := range violations {
				if strings.Contains(v.Name, c.finding) {
					return
				}
			}
			t.Errorf("no violation is about what was acknowledged: %v", violations)
		})
	}
}

// TestChildFails: a child that ends by itself is an error that quotes it.
func TestChildFails(t *testing.T) {
	result, err := audit.Run(t.Context(), config(t, unstarted))
	if err == nil || !strings.Contains(err.Error(), "no such luck") || len(result.Kills) != 0 {
		t.Errorf("a child that cannot open the store gives %+v and the error %v", result, err)
	}
	c := config(t, model.Factory)
	c.Engine.Name = "nobody"
	if _, err := audit.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), `no engine "nobody"`) {
		t.Errorf("an engine that the child does not have gives the error %v", err)
	}
	c = config(t, model.Factory)
	c.Command = []string{filepath.Join(c.Dir, "missing")}
	if _, err := audit.Run(t.Context(), c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a command that is missing gives the error %v", err)
	}
}

// TestLaterLifeFails: what was found before a child failed is returned with the error.
func TestLaterLifeFails(t *testing.T) {
	c := config(t, moody)
	c.Killed = func(audit.Kill) {
		if err := os.WriteFile(c.Dir+".mark", nil, 0o644); err != nil {
			t.Error(err)
		}
	}
	result, err := audit.Run(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "marked") || len(result.Kills) != 1 || result.Writes() == 0 {
		t.Errorf("a second life that fails gives %d kills, %d writes and the error %v", len(result.Kills), result.Writes(), err)
	}
}

func refuseWhileMarked(dir string) error {
	if _, err := os.Stat(dir + ".mark"); err == nil {
		return errors.New("marked")
	}
	return nil
}

// TestCancelled: the context ends an audit, and its child.
func TestCancelled(t *testing.T) {
	c := config(t, model.Factory)
	c.MinRun, c.MaxRun = time.Hour, time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	if _, err := audit.Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled audit gives the error %v", err)
	}
	// The child is dead: the store can be opened.
	e, err := c.Engine.Open(c.Dir, engines.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestNothingAcknowledged: an audit without a single acknowledgement proves nothing and says so.
func TestNothingAcknowledged(t *testing.T) {
	c := config(t, model.Factory)
	c.Kills, c.Weights = 1, tpcc.Weights{0, 0, 1, 0, 1}
	c.MinWrites = 0
	if _, err := audit.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "acknowledged nothing") {
		t.Errorf("an audit of reads gives the error %v", err)
	}
}

// TestValidate: each impossible configuration is an error, and so is an engine that keeps nothing.
func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*audit.Config){
		"scale":     func(c *audit.Config) { c.Scale.Warehouses = 0 },
		"weights":   func(c *audit.Config) { c.Weights = tpcc.Weights{} },
		"engine":    func(c *audit.Config) { c.Engine = engines.Factory{} },
		"null":      func(c *audit.Config) { c.Engine = null.Factory },
		"directory": func(c *audit.Config) { c.Dir = "" },
		"terminals": func(c *audit.Config) { c.Terminals = 0 },
		"kills":     func(c *audit.Config) { c.Kills = 0 },
		"time":      func(c *audit.Config) { c.MinRun = c.MaxRun + 1 },
		"writes":    func(c *audit.Config) { c.MinWrites = -1 },
		"command":   func(c *audit.Config) { c.Command = nil },
		"settings":  func(c *audit.Config) { c.Settings = map[string]string{"no": "such"} },
	} {
		c := config(t, model.Factory)
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if err := c.Validate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestUnder: the child runs under the program that is given for its life, and both end together, whoever kills them.
func TestUnder(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	c := config(t, model.Factory)
	var lives []int
	c.Under = func(life int) []string {
		lives = append(lives, life)
		// In odd lives the program kills the child, and ends as it did; in even ones it would wait for ever.
		if life%2 == 0 {
			return []string{shell, "-c", `exec 4<&0; "$@" <&4 & wait`, shell}
		}
		return []string{shell, "-c", `exec 4<&0; "$@" <&4 & sleep 0.3; kill -9 $!; kill -9 $$`, shell}
	}
	c.Kills, c.MinWrites = 4, 0
	c.MinRun, c.MaxRun = 200*time.Millisecond, time.Second
	result, err := audit.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range result.Violations() {
		t.Error(v)
	}
	if !slices.Equal(lives, []int{1, 2, 3, 4}) || result.Writes() == 0 {
		t.Errorf("lives %v, %d acknowledged writes", lives, result.Writes())
	}
}

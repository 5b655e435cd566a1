package matrix

import (
	"errors"
	"strings"
	"testing"
)

// Each change of the small plan is refused, with all its problems, each with its line and key.
func TestBadPlans(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"syntax", "seed = 7", "seed = = 7", "bad.toml:5: not TOML: "},
		{"key twice", "seed = 7", "seed = 7\nseed = 7", "bad.toml:6: not TOML: "},
		{"number too large", "seed = 7", "seed = 99999999999999999999", "bad.toml:5: not TOML: "},
		{"no format", "format = \"tpccbench.plan\"\n", "", "bad.toml:1: format: is missing"},
		{"other format", "tpccbench.plan", "other", `bad.toml:1: format: is "other"; this program reads "tpccbench.plan"`},
		{"other version", "version = 1", "version = 2\nfuture = 1", "bad.toml:2: version: is 2; this program reads version 1"},
		{"unknown key", "seed = 7", "seed = 7\nsed = 1", "bad.toml:6: sed: unknown key; allowed are format, version, name, title, quick, seed, order_seed, mix, device, gates, tuning, cell, decision"},
		{"unknown key in a table", "rounds = 2\n", "rounds = 2\nsecond = 3\n", "bad.toml:14: device[0].second: unknown key; allowed are name, kind, seconds, warm_up_seconds, rounds, keep_free_bytes"},
		{"unknown table", "[gates]", "[gate]\n[gates]", "bad.toml:15: gate: unknown key; allowed are format, version, name, title, quick, seed, order_seed, mix, device, gates, tuning, cell, decision"},
		{"name in capitals", `"small"`, `"Small"`, `bad.toml:3: name: is "Small"; a name is lower-case letters and digits with single hyphens between them`},
		{"name as a path", `"small"`, `"../x"`, `bad.toml:3: name: is "../x"; a name is lower-case letters and digits with single hyphens between them`},
		{"blank title", `"A small plan"`, `" "`, "bad.toml:4: title: is empty; it must say something"},
		{"seed as text", "seed = 7", `seed = "7"`, "bad.toml:5: seed: is a string; it must be a whole number 0..9223372036854775807"},
		{"negative seed", "seed = 7", "seed = -7", "bad.toml:5: seed: is -7; it must be 0..9223372036854775807"},
		{"mix too short", "seed = 7", "mix = [1]\nseed = 7", "bad.toml:5: mix: must be a list of 5 weights: new_order, payment, order_status, delivery, stock_level"},
		{"mix of zeros", "seed = 7", "mix = [0, 0, 0, 0, 0]\nseed = 7", "bad.toml:5: mix: has only zeros; at least one weight must be above 0"},
		{"unknown kind", `"memory"`, `"tmpfs"`, `bad.toml:10: device[0].kind: is "tmpfs"; allowed are memory, disk`},
		{"seconds 0", "seconds = 1.5", "seconds = 0", "bad.toml:11: device[0].seconds: is 0; it must be above 0 and at most 604800"},
		{"seconds nan", "seconds = 1.5", "seconds = nan", "bad.toml:11: device[0].seconds: is NaN; it must be above 0 and at most 604800"},
		{"seconds as a list", "seconds = 1.5", "seconds = [1]", "bad.toml:11: device[0].seconds: is a list; it must be a number"},
		{"negative warm-up", "warm_up_seconds = 0", "warm_up_seconds = -1", "bad.toml:12: device[0].warm_up_seconds: is -1; it must be at least 0 and at most 604800"},
		{"rounds 0", "rounds = 2\n\n[gates]", "rounds = 0\n\n[gates]", "bad.toml:13: device[0].rounds: is 0; it must be 1..1000"},
		{"no rounds", "rounds = 2\n\n[gates]", "[gates]", "bad.toml:8: device[0].rounds: is missing"},
		{"device twice", "[gates]", "[[device]]\nname = \"ram\"\nkind = \"disk\"\nseconds = 1\nwarm_up_seconds = 0\nrounds = 1\n[gates]",
			`bad.toml:16: device[1].name: duplicate device "ram"; it is in line 9 too`},
		{"gates as a list", "[gates]", "[[gates]]", "bad.toml:15: gates: is a list; it must be a table: [gates]"},
		{"one engine in the gate", `["a", "b"]`, `["a"]`, "bad.toml:17: gates.equal_engines: has one engine; at least two are needed to compare"},
		{"engine twice in the gate", `["a", "b"]`, `["a", "a"]`, `bad.toml:17: gates.equal_engines[1]: "a" is there twice`},
		{"gate on no device", `equal_device = "ram"`, `equal_device = "rom"`, `bad.toml:18: gates.equal_device: there is no device "rom"; the plan has ram`},
		{"clause 13", "[5, 6]", "[5, 13]", "bad.toml:20: gates.checked_clauses[1]: is 13; it must be 1..12"},
		{"clause twice", "[5, 6]", "[4, 5]", "bad.toml:20: gates.checked_clauses[0]: 4 is among published_clauses already"},
		{"transactions 0", "equal_transactions = 100", "equal_transactions = 0", "bad.toml:16: gates.equal_transactions: is 0; it must be 1..1000000000"},
		{"tuning of no device", "device = \"ram\"\nw = 1", "device = \"rom\"\nw = 1", `bad.toml:24: tuning[0].device: there is no device "rom"; the plan has ram`},
		{"unknown rule", `choose_by = "mean_tx_per_s"`, `choose_by = "luck"`, `bad.toml:28: tuning[0].choose_by: is "luck"; allowed are mean_tx_per_s`},
		{"rule over no run", `choose_over = "b"`, `choose_over = "c"`, `bad.toml:29: tuning[0].choose_over: no run of the tuning is of engine "c"; its runs are of b`},
		{"tuning without runs", "[[tuning.run]]\nengine = \"b\"\nterminals = [1, 2]\n", "", "bad.toml:23: tuning[0].run: is missing; there must be at least one [[run]]\n" +
			`bad.toml:29: tuning[0].choose_over: no run of the tuning is of engine "b"; its runs are of none`},
		{"engine twice in a tuning", "[[tuning.candidate]]\nname = \"plain\"", "[[tuning.run]]\nengine = \"b\"\nterminals = [3]\n[[tuning.candidate]]\nname = \"plain\"",
			`bad.toml:34: tuning[0].run[1].engine: duplicate engine "b"; one run table lists all its terminals`},
		{"candidate twice", `name = "fast"`, `name = "plain"`, `bad.toml:36: tuning[0].candidate[1].name: duplicate candidate "plain"; it is in line 34 too`},
		{"candidate with the same settings", `settings = { size = 10, mode = "x" }`, "", `bad.toml:35: tuning[0].candidate[1]: duplicate candidate: "plain" has the same settings`},
		{"candidate extends nothing", `name = "fast"`, "name = \"fast\"\nextends = \"fast\"", `bad.toml:37: tuning[0].candidate[1].extends: no candidate "fast" stands before this one`},
		{"candidate for some engines", `name = "fast"`, "name = \"fast\"\nengines = [\"b\"]", "bad.toml:37: tuning[0].candidate[1].engines: an eligible candidate is run with every engine of the tuning; this key needs eligible = false"},
		{"candidate for another engine", `name = "fast"`, "name = \"fast\"\neligible = false\nengines = [\"a\"]", `bad.toml:38: tuning[0].candidate[1].engines[0]: no run of the tuning is of engine "a"; its runs are of b`},
		{"none eligible", "name = \"plain\"\n[[tuning.candidate]]\nname = \"fast\"", "name = \"plain\"\neligible = false\n[[tuning.candidate]]\nname = \"fast\"\neligible = false",
			"bad.toml:33: tuning[0].candidate: none is eligible; at least one must be, to be chosen"},
		{"eligible as text", `name = "fast"`, "name = \"fast\"\neligible = \"no\"", "bad.toml:37: tuning[0].candidate[1].eligible: is a string; it must be true or false"},
		{"setting as a list", "size = 10", "size = [10]", "bad.toml:37: tuning[0].candidate[1].settings.size: is a list; the value of a setting is a string or a whole number"},
		{"settings as text", `settings = { mode = "wide" }`, `settings = "wide"`, "bad.toml:48: cell[1].settings: is a string; it must be a table of settings"},
		{"w 0", "w = [1, 2]", "w = [0, 2]", "bad.toml:42: cell[0].w[0]: is 0; it must be 1..4096"},
		{"terminals 0", "terminals = [2]", "terminals = [0]", "bad.toml:49: cell[1].terminals[0]: is 0; it must be 1..10000"},
		{"terminals as a number", "terminals = [2]", "terminals = 2", "bad.toml:49: cell[1].terminals: is a whole number; it must be a list"},
		{"fractional w", "w = [1, 2]", "w = [1, 2.5]", "bad.toml:42: cell[0].w[1]: is a number with a point; it must be a whole number 1..4096"},
		{"empty list", "w = [1, 2]", "w = []", "bad.toml:42: cell[0].w: is an empty list; it must have at least one value"},
		{"cell on no device", "w = [1, 2]\ndevices = [\"ram\"]", "w = [1, 2]\ndevices = [\"ram\", \"sd\"]", `bad.toml:43: cell[0].devices[1]: there is no device "sd"; the plan has ram`},
		{"duplicate cell", "[[decision]]", "[[cell]]\nengine = \"a\"\nterminals = [2]\nw = [2]\ndevices = [\"ram\"]\n[[decision]]",
			`bad.toml:53: cell[2]: duplicate cell "ram-w2-a-2"; it is in line 39 too`},
		{"settings without a label", "label = \"b-wide\"\n", "", "bad.toml:45: cell[1].label: a row with settings of its own needs a label other than its engine's name"},
		{"label of two things", "[[decision]]", "[[cell]]\nlabel = \"b-wide\"\nengine = \"b\"\nterminals = [2]\nw = [2]\ndevices = [\"ram\"]\n[[decision]]",
			`bad.toml:54: cell[2].label: "b-wide" stands for another engine or other settings in line 45; a label means one thing`},
		{"label is an engine", "[[decision]]", "[[cell]]\nlabel = \"a\"\nengine = \"b\"\nterminals = [3]\nw = [2]\ndevices = [\"ram\"]\n[[decision]]",
			`bad.toml:54: cell[2].label: "a" stands for another engine or other settings in line 39; a label means one thing` + "\n" +
				`bad.toml:54: cell[2].label: "a" is the name of an engine; a label must not be`},
		{"twin of nothing", `label = "b-wide"`, "label = \"b-wide\"\ntwin_of = \"c\"", `bad.toml:47: cell[1].twin_of: no row has the label "c"`},
		{"twin of itself", `label = "b-wide"`, "label = \"b-wide\"\ntwin_of = \"b-wide\"", `bad.toml:47: cell[1].twin_of: "b-wide" is the row's own label; a twin has another`},
		{"twin of another engine", `label = "b-wide"`, "label = \"b-wide\"\ntwin_of = \"a\"",
			`bad.toml:47: cell[1].twin_of: "a" is of engine a, not b; a twin is the same under another label`},
		{"twin with other settings", "[[decision]]", "[[cell]]\nlabel = \"twin\"\ntwin_of = \"b-wide\"\nengine = \"b\"\nterminals = [2]\nw = [1]\ndevices = [\"ram\"]\n[[decision]]",
			`bad.toml:55: cell[2].twin_of: "b-wide" has the settings {mode=wide}, not {}; a twin is the same under another label`},
		{"twin of no cell", "[[decision]]", "[[cell]]\nlabel = \"twin\"\ntwin_of = \"a\"\nengine = \"a\"\nterminals = [2, 3]\nw = [1]\ndevices = [\"ram\"]\n[[decision]]",
			"bad.toml:53: cell[2]: ram-w1-twin-3 would be the twin of ram-w1-a-3, which is no cell of the plan"},
		{"twin of a twin", "[[decision]]", "[[cell]]\nlabel = \"twin\"\ntwin_of = \"a\"\nengine = \"a\"\nterminals = [2]\nw = [1]\ndevices = [\"ram\"]\n" +
			"[[cell]]\nlabel = \"twin-too\"\ntwin_of = \"twin\"\nengine = \"a\"\nterminals = [2]\nw = [1]\ndevices = [\"ram\"]\n[[decision]]",
			`bad.toml:62: cell[3].twin_of: "twin" is itself a twin of "a"`},
		{"twin in one place only", "[[decision]]", "[[cell]]\nlabel = \"twin\"\ntwin_of = \"a\"\nengine = \"a\"\nterminals = [2]\nw = [1]\ndevices = [\"ram\"]\n" +
			"[[cell]]\nlabel = \"twin\"\nengine = \"a\"\nterminals = [1]\nw = [1]\ndevices = [\"ram\"]\n[[decision]]",
			`bad.toml:61: cell[3].label: "twin" is a twin in one place and none in another (line 53); a label means one thing`},
		{"rate 0", "terminals = [2]\nw", "terminals = [2]\nrates = [0, 5]\nw", "bad.toml:50: cell[1].rates[0]: is 0; it must be 1..10000000"},
		{"rate twice", "terminals = [2]\nw", "terminals = [2]\nrates = [5, 5]\nw", "bad.toml:45: cell[1]: duplicate cell \"ram-w1-b-wide-2-rate5\"; it is in line 45 too\nbad.toml:50: cell[1].rates[1]: 5 is there twice"},
		{"fractional rate", "terminals = [2]\nw", "terminals = [2]\nrates = [0.5]\nw", "bad.toml:50: cell[1].rates[0]: is a number with a point; it must be a whole number 1..10000000"},
		{"no rates", "terminals = [2]\nw", "terminals = [2]\nrates = []\nw", "bad.toml:50: cell[1].rates: is an empty list; it must have at least one value"},
		{"unknown arrivals", "terminals = [2]\nw", "terminals = [2]\nrates = [5]\narrivals = \"bursts\"\nw", `bad.toml:51: cell[1].arrivals: is "bursts"; allowed are fixed, poisson`},
		{"arrivals without rates", "terminals = [2]\nw", "terminals = [2]\narrivals = \"fixed\"\nw",
			"bad.toml:50: cell[1].arrivals: needs rates: a row without them is a closed loop, in which nothing arrives"},
		{"unknown transport", "terminals = [2]\nw", "terminals = [2]\ntransport = \"tcp\"\nw", `bad.toml:50: cell[1].transport: is "tcp"; allowed are in-process, http`},
		{"processors in-process", "terminals = [2]\nw", "terminals = [2]\ncpus = \"0\"\nload_cpus = \"1\"\nw",
			"bad.toml:50: cell[1].cpus: needs transport = \"http\": in-process, terminals and engine are one process, whose processors taskset chooses\n" +
				"bad.toml:51: cell[1].load_cpus: needs transport = \"http\": in-process, terminals and engine are one process, whose processors taskset chooses"},
		{"processors as a number", "terminals = [2]\nw", "terminals = [2]\ntransport = \"http\"\ncpus = 0\nw", "bad.toml:51: cell[1].cpus: is a whole number; it must be a string"},
		{"processors of two kinds", "[[decision]]", "[[cell]]\nengine = \"a\"\nterminals = [2]\nw = [2]\ndevices = [\"ram\"]\ntransport = \"http\"\ncpus = \"0\"\n" +
			"[[cell]]\nengine = \"a\"\nterminals = [3]\nw = [2]\ndevices = [\"ram\"]\ntransport = \"http\"\n[[decision]]",
			`bad.toml:60: cell[3].label: "a" has other processors with transport http in line 53; a label means one thing`},
		{"twin in another loop", "[[decision]]", "[[cell]]\nlabel = \"twin\"\ntwin_of = \"a\"\nengine = \"a\"\nterminals = [2]\nw = [1]\nrates = [5]\ndevices = [\"ram\"]\n[[decision]]",
			"bad.toml:53: cell[2]: ram-w1-twin-2-rate5 would be the twin of ram-w1-a-2-rate5, which is no cell of the plan"},
		{"rounds 0 for a decision", "[[decision]]", "[[decision]]\nmin_rounds = 0", "bad.toml:54: decision[0].min_rounds: is 0; it must be 1..1000"},
		{"decision twice", small[strings.Index(small, "[[decision]]"):], strings.Repeat(small[strings.Index(small, "[[decision]]"):], 2),
			`bad.toml:67: decision[1].name: duplicate decision "better"; it is in line 54 too`},
		{"decision without a condition", small[strings.Index(small, "[[decision.condition]]"):], "", "bad.toml:53: decision[0].condition: is missing; there must be at least one [[condition]]"},
		{"rule naming nothing", `["ram-w1-a-2"]`, `["ram-w1-a-3"]`,
			`bad.toml:61: decision[0].condition[0].cells[0]: names no cell: "ram-w1-a-3"; the plan's cells are ram-w1-a-1, ram-w1-a-2, ram-w2-a-1, ram-w2-a-2, ram-w1-b-wide-2`},
		{"pairs that do not match", `["ram-w1-a-2"]`, `["ram-w1-a-1", "ram-w1-a-2"]`, "bad.toml:62: decision[0].condition[0].over_cells: has 1 cells; it must have one for each of the 2 of cells"},
		{"cell against itself", `["ram-w1-b-wide-2"]`, `["ram-w1-a-2"]`, `bad.toml:62: decision[0].condition[0].over_cells[0]: "ram-w1-a-2" is compared with itself`},
		{"pair twice", "cells = [\"ram-w1-a-2\"]\nover_cells = [\"ram-w1-b-wide-2\"]", "cells = [\"ram-w1-a-2\", \"ram-w1-a-2\"]\nover_cells = [\"ram-w1-b-wide-2\", \"ram-w1-b-wide-2\"]",
			`bad.toml:61: decision[0].condition[0].cells[1]: "ram-w1-a-2 ram-w1-b-wide-2" is there twice`},
		{"key of another statistic", `statistic = "ratio"`, `statistic = "value"`,
			"bad.toml:62: decision[0].condition[0].over_cells: unknown key; allowed are statistic, column, cells, holds_for, comparison, threshold"},
		{"quotient of nothing", "statistic = \"ratio\"", "statistic = \"quotient\"", "bad.toml:58: decision[0].condition[0].over_column: is missing\n" +
			"bad.toml:62: decision[0].condition[0].over_cells: unknown key; allowed are statistic, column, cells, holds_for, comparison, threshold, over_column"},
		{"unknown comparison", `"above"`, `">"`, `bad.toml:64: decision[0].condition[0].comparison: is ">"; allowed are at_most, at_least, below, above`},
		{"infinite threshold", "threshold = 1", "threshold = inf", "bad.toml:65: decision[0].condition[0].threshold: is +Inf; it must be at least -1.7976931348623157e+308 and at most 1.7976931348623157e+308"},
		{"two problems", "kind = \"memory\"\nseconds = 1.5", "kind = 3\nseconds = true", "bad.toml:10: device[0].kind: is 3; allowed are memory, disk\n" +
			"bad.toml:11: device[0].seconds: is true or false; it must be a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(small, c.old) {
				t.Fatalf("the small plan has no %q", c.old)
			}
			p, err := Parse("bad.toml", []byte(strings.Replace(small, c.old, c.new, 1)))
			if err == nil {
				t.Fatalf("accepted: %+v", p)
			}
			got := err.Error()
			if strings.HasSuffix(c.want, ": not TOML: ") {
				got = got[:min(len(got), len(c.want))] // what follows is the TOML library's wording
			}
			if got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
			var problems Problems
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Errorf("%T is not Problems", err)
			}
		})
	}
}

func TestReadMissingFile(t *testing.T) {
	if _, err := Read("testdata/no such plan.toml"); err == nil || !strings.Contains(err.Error(), "no such plan.toml") {
		t.Errorf("got %v; want an error that names the file", err)
	}
}

// No text makes the reader panic, and a plan that it accepts can be expanded, hashed and printed.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(""))
	f.Add([]byte("format = \"tpccbench.plan\"\nversion = 1\ndevice = [1]\ngates = 1\ncell = [{}]\n"))
	f.Add([]byte("format = \"tpccbench.plan\"\nversion = 1\n[[decision]]\n[[decision.condition]]\nstatistic = \"ratio\"\ncells = [\"a\"]\n"))
	f.Add([]byte("format = \"tpccbench.plan\"\nversion = 1\n[[tuning]]\nrun = [{engine = \"a\"}]\n\"a.b\".c = 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("fuzz.toml", data)
		if err != nil {
			var problems Problems
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("%T is not Problems: %v", err, err)
			}
			for _, problem := range problems {
				if problem.Line < 1 || problem.Text == "" {
					t.Fatalf("%+v has no line or text", problem)
				}
			}
			return
		}
		if len(p.CellNames()) > 1_000 {
			return // would be slow, and shows nothing more
		}
		p.SHA256()
		p.TuningRuns()
		p.Gates()
		if err := p.Quick().Words(new(strings.Builder)); err != nil {
			t.Fatal(err)
		}
	})
}

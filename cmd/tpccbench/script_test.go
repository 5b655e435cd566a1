package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"tpccbench/record"
)

// asProgram, set in the environment, makes the test binary the program itself.
const asProgram = "TPCCBENCH_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	testscript.Main(m, map[string]func(){"tpccbench": main})
}

// TestScripts runs the command-line scripts of testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("RAM", ramDir(t))
			names := make([]string, len(allEngines))
			for i, f := range allEngines {
				names[i] = f.Name
			}
			env.Setenv("ENGINES", strings.Join(names, ", "))
			for name, path := range map[string]string{
				"PLAN": "matrix/preregistered.toml", "HTTP_PLAN": "matrix/http.toml", "RESULTS": "results", "TABLES": "tables.py",
			} {
				abs, err := filepath.Abs(filepath.Join("../..", path))
				if err != nil {
					return err
				}
				env.Setenv(name, abs)
			}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "disk": // the scripts' own folder is on a disk
				var fs unix.Statfs_t
				err := unix.Statfs(os.TempDir(), &fs)
				return err == nil && fs.Type != unix.TMPFS_MAGIC && fs.Type != unix.RAMFS_MAGIC, err
			case "mount":
				return mayMount(), nil
			case "card": // an SD card can be emulated here
				if err := canEmulate(); err != nil {
					t.Log(err)
					return false, nil
				}
				return true, nil
			case "lmdb": // it is built in
				for _, f := range allEngines {
					if f.Name == "lmdb" {
						return f.Missing == "", nil
					}
				}
				return false, errors.New("there is no engine lmdb")
			case "python3":
				_, err := os.Stat("/usr/bin/python3")
				return err == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"empty":     cmdEmpty,
			"figures":   cmdFigures,
			"flip":      cmdFlip,
			"purestore": cmdPureStore,
			"sleep":     cmdSleep,
			"tmpfs":     cmdTmpfs,
			"waitempty": cmdWaitEmpty,
			"truncate":  cmdTruncate,
			"waitfor":   cmdWaitFor,
		},
	})
}

// ramDir is a new directory on a memory file system, removed after the test.
func ramDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "tpccbench-test-")
	if err != nil {
		t.Skipf("no memory file system: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// cmdEmpty fails unless the directory is empty: empty DIR.
func cmdEmpty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: empty DIR")
	}
	entries, err := os.ReadDir(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, e := range entries {
		ts.Fatalf("%s is left in %s", e.Name(), args[0])
	}
}

// cmdFigures compares figures of a raw record or of the JSON of cell: figures FILE column=value|column>value ...
func cmdFigures(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: figures FILE COLUMN=VALUE|COLUMN>VALUE ...")
	}
	var values map[string]any
	if filepath.Ext(args[0]) == ".json" {
		r, err := record.Read(ts.MkAbs(args[0]))
		ts.Check(err)
		values = map[string]any{}
		for k, v := range r.Figures {
			values[k] = v
		}
	} else {
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &values))
	}
	for _, a := range args[1:] {
		for i := range a {
			if a[i] != '=' && a[i] != '>' {
				continue
			}
			want, err := strconv.ParseFloat(a[i+1:], 64)
			ts.Check(err)
			got, ok := values[a[:i]].(float64)
			if !ok || (a[i] == '=' && got != want) || (a[i] == '>' && !(got > want)) {
				ts.Fatalf("%s: %s is %v; want %s", args[0], a[:i], values[a[:i]], a[i:])
			}
			break
		}
	}
}

// mayMount says whether this process may mount a file system.
func mayMount() bool {
	dir, err := os.MkdirTemp("", "tpccbench-test-")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	return unix.Mount("tmpfs", dir, "tmpfs", 0, "size=1m") == nil && unix.Unmount(dir, 0) == nil
}

// cmdTmpfs makes a memory file system of the size in the directory, for the rest of the script: tmpfs DIR SIZE.
func cmdTmpfs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tmpfs DIR SIZE")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+args[1]))
	ts.Defer(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			ts.Logf("unmount: %v", err)
		}
	})
}

// cmdWaitFor waits until a file matches the pattern: waitfor PATTERN.
func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor PATTERN")
	}
	path := ts.MkAbs(args[0])
	for range 1200 {
		if found, err := filepath.Glob(path); err == nil && len(found) > 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	ts.Fatalf("%s did not appear", args[0])
}

// cmdSleep waits: sleep SECONDS.
func cmdSleep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: sleep SECONDS")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	time.Sleep(time.Duration(n) * time.Second)
}

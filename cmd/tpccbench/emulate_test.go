package main

import (
	"os"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"tpccbench/emulate"
)

// canEmulate says why no SD card can be emulated here.
var canEmulate = sync.OnceValue(func() error {
	card, err := emulate.Parse("emulate:fast@" + os.TempDir())
	if err != nil {
		return err
	}
	dev, err := emulate.Start(card, 0)
	if err != nil {
		return err
	}
	return dev.Close()
})

// cmdWaitEmpty waits until the directory is empty: waitempty DIR.
func cmdWaitEmpty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitempty DIR")
	}
	for range 600 {
		entries, err := os.ReadDir(ts.MkAbs(args[0]))
		ts.Check(err)
		if len(entries) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	ts.Fatalf("%s did not become empty", args[0])
}

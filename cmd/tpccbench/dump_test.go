package main

import (
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"tpccbench/engines"
	"tpccbench/engines/pure"
	"tpccbench/tpcc"
)

// cmdPureStore makes a small store of engine pure with three saves behind its image: purestore DIR.
func cmdPureStore(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: purestore DIR")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	e, err := pure.Factory.Open(dir, engines.Options{Settings: map[string]string{"log_segment_bytes": "65536"}})
	ts.Check(err)
	scale := tpcc.TestScale(1)
	ts.Check(e.Load(tpcc.Population(1, scale)))
	s, err := e.NewSession()
	ts.Check(err)
	term := tpcc.NewTerminal(1, 0, scale, tpcc.StandardMix())
	for saves := 0; saves < 3; {
		var in tpcc.Input
		var out tpcc.PaymentOutput
		if term.Next(&in); in.Type == tpcc.TxPayment {
			ts.Check(s.Payment(&in.Payment, &out))
			saves++
		}
	}
	ts.Check(s.Close())
	ts.Check(e.Close())
}

// cmdFlip changes one bit of a file: flip FILE OFFSET.
func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip FILE OFFSET")
	}
	at, err := strconv.Atoi(args[1])
	ts.Check(err)
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	data[at] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// cmdTruncate cuts a file: truncate FILE BYTES.
func cmdTruncate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate FILE BYTES")
	}
	bytes, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), bytes))
}

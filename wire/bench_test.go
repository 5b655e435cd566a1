package wire

import (
	"testing"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// mix draws inputs of the standard mix.
func mix(n int) []tpcc.Input {
	terminal := tpcc.NewTerminal(1, 0, tpcc.TestScale(1), tpcc.StandardMix())
	in := make([]tpcc.Input, n)
	for i := range in {
		terminal.Next(&in[i])
	}
	return in
}

// BenchmarkCodec writes and reads the input and the output of a transaction of the standard mix, what one transaction
// costs both ends together.
func BenchmarkCodec(b *testing.B) {
	inputs := mix(1000)
	var got tpcc.Input
	var out, gotOut tpcc.Output
	for i := range out.NewOrder.Lines[:10] {
		out.NewOrder.Lines[i] = tpcc.NewOrderOutputLine{Price: 5000, SQuantity: 50, Amount: 25_000}
	}
	out.OrderStatus.Count = 10
	var d decoder
	var body []byte
	bytes := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		in := &inputs[i%len(inputs)]
		body = writeInput(body[:0], in)
		bytes += len(body)
		got.Type = in.Type
		if err := readInput(&d, body, &got); err != nil {
			b.Fatal(err)
		}
		body = writeOutput(body[:0], in.Type, &out)
		bytes += len(body)
		if err := readOutput(&d, body, in.Type, &gotOut); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(bytes)/float64(b.N), "body-B/op")
}

// BenchmarkRoundTrip is one transaction of the standard mix after the other over one connection of loopback, to the engine
// that does nothing: what the wire costs both ends together. Allocations are those of both ends.
func BenchmarkRoundTrip(b *testing.B) {
	address, _ := serve(b, nullEngine(b), Limits{})
	session, err := newClient(b, address).NewSession()
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	inputs := mix(1000)
	var out tpcc.Output
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := engines.Call(session, &inputs[i%len(inputs)], &out); err != nil {
			b.Fatal(err)
		}
	}
}

// TestAllocations: neither writing nor reading allocates once a connection has had each type.
func TestAllocations(t *testing.T) {
	inputs := mix(500)
	var got tpcc.Input
	var out, gotOut tpcc.Output
	var d decoder
	var body []byte
	all := func() {
		for i := range inputs {
			in := &inputs[i]
			body = writeInput(body[:0], in)
			got.Type = in.Type
			if err := readInput(&d, body, &got); err != nil {
				t.Fatal(err)
			}
			body = writeOutput(body[:0], in.Type, &out)
			if err := readOutput(&d, body, in.Type, &gotOut); err != nil {
				t.Fatal(err)
			}
		}
	}
	all()
	if n := testing.AllocsPerRun(5, all); n != 0 {
		t.Errorf("%d transactions make %v allocations in the codec; they must make none", len(inputs), n)
	}
}

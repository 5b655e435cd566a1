package wire

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tpccbench/tpcc"
)

// writeInput appends the input of in's type.
func writeInput(b []byte, in *tpcc.Input) []byte {
	switch in.Type {
	case tpcc.TxNewOrder:
		return newOrderInput.write(b, &in.NewOrder)
	case tpcc.TxPayment:
		return paymentInput.write(b, &in.Payment)
	case tpcc.TxOrderStatus:
		return orderStatusInput.write(b, &in.OrderStatus)
	case tpcc.TxDelivery:
		return deliveryInput.write(b, &in.Delivery)
	}
	return stockLevelInput.write(b, &in.StockLevel)
}

// readOutput reads the output of the type.
func readOutput(d *decoder, body []byte, t tpcc.Type, out *tpcc.Output) error {
	switch t {
	case tpcc.TxNewOrder:
		return decode(d, newOrderOutput, body, &out.NewOrder)
	case tpcc.TxPayment:
		return decode(d, paymentOutput, body, &out.Payment)
	case tpcc.TxOrderStatus:
		return decode(d, orderStatusOutput, body, &out.OrderStatus)
	case tpcc.TxDelivery:
		return decode(d, deliveryOutput, body, &out.Delivery)
	}
	return decode(d, stockLevelOutput, body, &out.StockLevel)
}

// inputDigest tells inputs apart by all that counts in them.
func inputDigest(in *tpcc.Input) string {
	d := tpcc.NewInputDigest()
	d.Add(in)
	return d.String()
}

// TestInputs: each input that a terminal draws comes back as it was, whatever the room for it held before, and in any
// order of its members; and its body is within the bound.
func TestInputs(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	scale, longest := tpcc.StandardScale(3), 0
	terminal := tpcc.NewTerminal(seed, 2, scale, tpcc.Weights{1, 1, 1, 1, 1})
	var in, got tpcc.Input
	var d decoder
	var body []byte
	for range 5000 {
		terminal.Next(&in)
		body = writeInput(body[:0], &in)
		longest = max(longest, len(body))
		got.Type = in.Type
		if err := readInput(&d, body, &got); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if inputDigest(&in) != inputDigest(&got) {
			t.Fatalf("%s is read as %+v", body, got)
		}
	}
	in = tpcc.Input{Type: tpcc.TxNewOrder, NewOrder: tpcc.NewOrderInput{WID: maxID, DID: 10, CID: maxID, EntryD: maxDate, Count: tpcc.MaxLines}}
	for i := range in.NewOrder.Lines {
		in.NewOrder.Lines[i] = tpcc.NewOrderInputLine{IID: maxID, SupplyWID: maxID, Quantity: 10}
	}
	if body = writeInput(nil, &in); len(body) > 1100 {
		t.Errorf("the longest New-Order has %d bytes; MaxBody says that it has less than 1100", len(body))
	}
	got.Type = in.Type
	if err := readInput(&d, body, &got); err != nil || got.NewOrder != in.NewOrder {
		t.Errorf("the longest New-Order is read as %+v, %v", got.NewOrder, err)
	}
	t.Logf("the longest input that was drawn has %d bytes, the longest that there is %d", longest, len(body))

	mixed := ` { "date" : 5, "amount":100,"c_id":0,"by_n\u0061me":true ,"c_last":9, "c_d_id":1,"c_w_id":2,"d_id":10,"w_id":1 } `
	got.Type = tpcc.TxPayment
	want := tpcc.PaymentInput{WID: 1, DID: 10, CWID: 2, CDID: 1, ByName: true, CLast: 9, Amount: 100, Date: 5}
	if err := readInput(&d, []byte(mixed), &got); err != nil || got.Payment != want {
		t.Errorf("%s is read as %+v, %v", mixed, got.Payment, err)
	}
}

// fill gives every number of v a random value, small or of any size.
func fill(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rng, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(rng, v.Index(i))
		}
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	default:
		n := int64(rng.Uint64())
		if rng.IntN(2) == 0 {
			n %= 1000
		}
		if v.OverflowInt(n) {
			n = int64(int32(n))
		}
		v.SetInt(n)
	}
}

// TestOutputs: every output comes back as it was, whatever the room for it held before: rollbacks, orders that there are
// not, numbers of any size.
func TestOutputs(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	abs := func(n int64) int64 { return max(n, -n, 0) }
	var out, got tpcc.Output
	var d decoder
	var body []byte
	for range 2000 {
		fill(rng, reflect.ValueOf(&out).Elem())
		fill(rng, reflect.ValueOf(&got).Elem())
		clear(out.NewOrder.Lines[rng.IntN(tpcc.MaxLines+1):])
		if out.NewOrder.RolledBack {
			clear(out.NewOrder.Lines[:])
		}
		o := &out.OrderStatus
		o.Count = int32(rng.IntN(tpcc.MaxLines + 1))
		clear(o.Lines[o.Count:])
		o.OID, o.CarrierID = int32(abs(int64(o.OID))), int32(abs(int64(o.CarrierID)))
		for i := range o.Lines {
			o.Lines[i].DeliveryD = abs(o.Lines[i].DeliveryD) * int64(rng.IntN(2))
		}
		for i := range out.Delivery.OID {
			out.Delivery.OID[i] = int32(abs(int64(out.Delivery.OID[i]))) * int32(rng.IntN(2))
		}
		for _, typ := range tpcc.Types {
			body = writeOutput(body[:0], typ, &out)
			if err := readOutput(&d, body, typ, &got); err != nil {
				t.Fatalf("%s: %v", body, err)
			}
		}
		if got != out {
			t.Fatalf("got  %+v\nwant %+v", got, out)
		}
	}
}

const stockLevel = `{"w_id":1,"d_id":2,"threshold":15}`

// TestRefusedBodies: what is no input is refused with the member, the value and what it must be; and a decoder reads on
// afterwards.
func TestRefusedBodies(t *testing.T) {
	line := `{"i_id":1,"supply_w_id":1,"quantity":5}`
	order := func(lines ...string) string {
		return `{"w_id":1,"d_id":2,"c_id":3,"entry_d":4,"lines":[` + strings.Join(lines, ",") + `]}`
	}
	lines := func(n int, line string) []string {
		return strings.Split(strings.Repeat(line+";", n)[:n*(len(line)+1)-1], ";")
	}
	pay := `{"w_id":1,"d_id":2,"c_w_id":1,"c_d_id":2,"by_name":%s,"c_last":0,"c_id":7,"amount":%s,"date":1}`
	var d decoder
	for _, c := range []struct {
		typ        tpcc.Type
		body, want string
	}{
		{tpcc.TxStockLevel, ``, "the JSON ends too early"},
		{tpcc.TxStockLevel, ` `, "the JSON ends too early"},
		{tpcc.TxStockLevel, `[]`, "must be an object"},
		{tpcc.TxStockLevel, `null`, "must be an object"},
		{tpcc.TxStockLevel, `{}`, "w_id is missing"},
		{tpcc.TxStockLevel, stockLevel[:len(stockLevel)-1], "the JSON ends too early"},
		{tpcc.TxStockLevel, stockLevel + stockLevel, "something follows the object"},
		{tpcc.TxStockLevel, stockLevel + "x", "something follows the object"},
		{tpcc.TxStockLevel, `{"w_id":1,"d_id":2,"w_id":1}`, "w_id is there twice"},
		{tpcc.TxStockLevel, `{"w_id":1,"D_ID":2}`, `there is no member "D_ID"`},
		{tpcc.TxStockLevel, `{"w_id":0,"d_id":2,"threshold":15}`, "w_id is 0; it must be a whole number 1..2147483647"},
		{tpcc.TxStockLevel, `{"w_id":1,"d_id":11,"threshold":15}`, "d_id is 11; it must be a whole number 1..10"},
		{tpcc.TxStockLevel, `{"w_id":1.0,"d_id":1,"threshold":15}`, "w_id is 1.0; it must be a whole number"},
		{tpcc.TxStockLevel, `{"w_id":1e3,"d_id":1,"threshold":15}`, "w_id is 1e3; it must be a whole number"},
		{tpcc.TxStockLevel, `{"w_id":4294967297,"d_id":1,"threshold":15}`, "w_id is 4294967297; it must be"},
		{tpcc.TxStockLevel, `{"w_id":18446744073709551617,"d_id":1,"threshold":15}`, "w_id is 18446744073709551617; it must be"},
		{tpcc.TxStockLevel, `{"w_id":99999999999999999999999,"d_id":1,"threshold":15}`, "it must be a whole number"},
		{tpcc.TxStockLevel, `{"w_id":-9223372036854775808,"d_id":1,"threshold":15}`, "w_id is -9223372036854775808; it must be"},
		{tpcc.TxStockLevel, `{"w_id":"1","d_id":1,"threshold":15}`, `w_id is "1"; it must be a whole number`},
		{tpcc.TxStockLevel, `{"w_id":null,"d_id":1,"threshold":15}`, `w_id is null; it must be a whole number`},
		{tpcc.TxStockLevel, `{"w_id":{"a":[1,2,3]},"d_id":1,"threshold":15}`, `it must be a whole number`},
		{tpcc.TxStockLevel, `{"w_id":01,"d_id":1,"threshold":15}`, "w_id is 0; it must be"},
		{tpcc.TxStockLevel, `{"w_id" 1}`, "invalid character"},
		{tpcc.TxStockLevel, `{"w_id":1,}`, "invalid character"},
		{tpcc.TxStockLevel, "{\"w_\xff\":1}", "invalid UTF-8"},
		{tpcc.TxStockLevel, strings.Repeat("[", 4000), "must be an object"},
		{tpcc.TxStockLevel, `{"w_id":` + strings.Repeat("[", 4000), "the JSON ends too early"},
		{tpcc.TxPayment, fmt.Sprintf(pay, "0", "1"), "by_name is 0; it must be true or false"},
		{tpcc.TxPayment, fmt.Sprintf(pay, "true", "500001"), "amount is 500001; it must be a whole number 1..500000"},
		{tpcc.TxNewOrder, order(lines(4, line)...), "lines has 4 elements; it must have 5..15"},
		{tpcc.TxNewOrder, order(lines(16, line)...), "lines has more than 15 elements"},
		{tpcc.TxNewOrder, order(append(lines(5, line), `{"i_id":1,"supply_w_id":1,"quantity":11}`)...),
			"lines[5].quantity is 11; it must be a whole number 1..10"},
		{tpcc.TxNewOrder, order(append(lines(5, line), `{"i_id":1,"supply_w_id":1}`)...), "lines[5].quantity is missing"},
		{tpcc.TxNewOrder, order(append(lines(5, line), `7`)...), "lines[5] must be an object"},
		{tpcc.TxNewOrder, `{"lines":{}}`, "lines must be an array"},
		{tpcc.TxDelivery, `{"w_id":1,"carrier_id":1,"delivery_d":0}`, "delivery_d is 0; it must be a whole number 1.."},
	} {
		in := tpcc.Input{Type: c.typ}
		err := readInput(&d, []byte(c.body), &in)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.80s: %v; want %q", c.typ, c.body, err, c.want)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%s %.80s: the error has %d bytes", c.typ, c.body, len(err.Error()))
		}
		in.Type = tpcc.TxStockLevel
		if err := readInput(&d, []byte(stockLevel), &in); err != nil || in.StockLevel != (tpcc.StockLevelInput{WID: 1, DID: 2, Threshold: 15}) {
			t.Fatalf("after %.80s a body that is right is %+v, %v", c.body, in.StockLevel, err)
		}
	}
	var out tpcc.Output
	for _, body := range []string{`{"o_ids":[]}`, `{"o_ids":[1,2,3,4,5,6,7,8,9]}`, `{"o_ids":[1,2,3,4,5,6,7,8,9,10,11]}`, `{"o_ids":[1,2,3,4,5,6,7,8,9,0]}`} {
		if err := readOutput(&d, []byte(body), tpcc.TxDelivery, &out); err == nil {
			t.Errorf("%s was read", body)
		}
	}
}

// FuzzInput: no body brings the decoder down, and one that is read is written again as one that means the same.
func FuzzInput(f *testing.F) {
	terminal := tpcc.NewTerminal(1, 0, tpcc.TestScale(2), tpcc.Weights{1, 1, 1, 1, 1})
	var in tpcc.Input
	for range 20 {
		terminal.Next(&in)
		f.Add(uint8(in.Type), writeInput(nil, &in))
	}
	var d decoder
	f.Fuzz(func(t *testing.T, typ uint8, body []byte) {
		in := tpcc.Input{Type: tpcc.Type(typ % uint8(tpcc.NumTypes))}
		if readInput(&d, body, &in) != nil {
			return
		}
		if in.Type == tpcc.TxNewOrder && (in.NewOrder.Count < tpcc.MinLines || in.NewOrder.Count > tpcc.MaxLines) {
			t.Fatalf("%d lines were accepted", in.NewOrder.Count)
		}
		again := tpcc.Input{Type: in.Type}
		written := writeInput(nil, &in)
		if err := readInput(&d, written, &again); err != nil || inputDigest(&in) != inputDigest(&again) {
			t.Fatalf("%q is read as %+v, written as %s, and that as %+v, %v", body, in, written, again, err)
		}
	})
}

// FuzzOutput: the same for answers, which a client reads from a server that it does not know.
func FuzzOutput(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 0))
	var out tpcc.Output
	fill(rng, reflect.ValueOf(&out).Elem())
	out.OrderStatus.Count = 7
	for _, t := range tpcc.Types {
		f.Add(uint8(t), writeOutput(nil, t, &out))
		f.Add(uint8(t), writeOutput(nil, t, &tpcc.Output{}))
	}
	var d decoder
	f.Fuzz(func(t *testing.T, typ uint8, body []byte) {
		var out, again tpcc.Output
		of := tpcc.Type(typ % uint8(tpcc.NumTypes))
		if readOutput(&d, body, of, &out) != nil {
			return
		}
		written := writeOutput(nil, of, &out)
		if err := readOutput(&d, written, of, &again); err != nil || out != again {
			t.Fatalf("%q is read as %+v, written as %s, and that as %+v, %v", body, out, written, again, err)
		}
	})
}

package consistency

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"testing"

	"tpccbench/tpcc"
)

func TestAcksComeBack(t *testing.T) {
	in := &tpcc.NewOrderInput{WID: 4096, DID: 10, CID: 3000, EntryD: tpcc.RunDate, Count: 15}
	out := &tpcc.NewOrderOutput{OID: math.MaxInt32}
	order := AckNewOrder{WID: 4096, DID: 10, OID: math.MaxInt32, CID: 3000, EntryD: tpcc.RunDate}
	for i := range in.Lines {
		in.Lines[i] = tpcc.NewOrderInputLine{IID: 100_000 - int32(i), SupplyWID: 4096, Quantity: 10}
		out.Lines[i].Amount = math.MaxInt32 + int64(i)
		order.Lines = append(order.Lines, AckLine{100_000 - int32(i), 4096, 10, math.MaxInt32 + int64(i)})
	}
	b := AppendNewOrderAck(nil, in, out)
	if len(b) > 512 {
		t.Errorf("a record of %d bytes; 512 are promised", len(b))
	}
	pay := &tpcc.PaymentInput{WID: 1, DID: 2, CWID: 3, CDID: 4, ByName: true, CLast: 5, Amount: 6, Date: 7}
	b = AppendPaymentAck(b, pay, &tpcc.PaymentOutput{CID: 8})
	del := &tpcc.DeliveryInput{WID: 9, CarrierID: 10, DeliveryD: math.MaxInt64}
	oids := [tpcc.Districts]int32{1, 2, 0, 4, math.MaxInt32, 6, 7, 8, 9, 0}
	b = AppendDeliveryAck(b, del, &tpcc.DeliveryOutput{OID: oids})
	before := len(b)
	if b = AppendNewOrderAck(b, in, &tpcc.NewOrderOutput{RolledBack: true}); len(b) != before {
		t.Error("a New-Order that rolled back has a record")
	}
	want := []Ack{
		{Type: tpcc.TxNewOrder, NewOrder: order},
		{Type: tpcc.TxPayment, Payment: AckPayment{1, 2, 3, 4, 8, 6, 7}},
		{Type: tpcc.TxDelivery, Delivery: AckDelivery{9, 10, math.MaxInt64, oids}},
	}
	got, err := ReadAcks(bytes.NewReader(b))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v\nnot %+v", got, err, want)
	}
}

// Cut at any byte, a stream gives the records before the cut; a cut within a record is told from one between records.
func TestACutStreamOfAcksGivesTheWholeOnes(t *testing.T) {
	_, note := afterRun(2)
	all, err := ReadAcks(bytes.NewReader(note.acks))
	if err != nil || len(all) < 100 {
		t.Fatalf("%d acks, %v", len(all), err)
	}
	r := bytes.NewReader(note.acks)
	starts := map[int]bool{0: true} // where a record may start
	for range all {
		if _, err := ReadAck(r); err != nil {
			t.Fatal(err)
		}
		starts[len(note.acks)-r.Len()] = true
	}
	for cut := range 600 {
		r := bytes.NewReader(note.acks[:cut])
		n := 0
		for err = nil; err == nil; n++ {
			_, err = ReadAck(r)
		}
		if want := map[bool]error{true: io.EOF, false: ErrTornAck}[starts[cut]]; !errors.Is(err, want) {
			t.Fatalf("cut at %d: after %d acks %v, not %v", cut, n-1, err, want)
		}
		acks, err := ReadAcks(bytes.NewReader(note.acks[:cut]))
		if err != nil || len(acks) != n-1 || !reflect.DeepEqual(acks, append([]Ack(nil), all[:n-1]...)) {
			t.Fatalf("cut at %d: %d acks, %v", cut, len(acks), err)
		}
	}
}

// No flipped bit in a record gives another record.
func TestAFlippedBitInAnAckIsFound(t *testing.T) {
	_, note := afterRun(2)
	b := note.acks[:400]
	want, err := ReadAcks(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 * len(b) {
		flipped := bytes.Clone(b)
		flipped[i/8] ^= 1 << (i % 8)
		got, err := ReadAcks(bytes.NewReader(flipped))
		if err != nil && !errors.Is(err, ErrDamagedAck) {
			t.Fatalf("bit %d: %v", i, err)
		}
		for j := range got {
			if !reflect.DeepEqual(got[j], want[j]) {
				t.Fatalf("bit %d: record %d became %+v", i, j, got[j])
			}
		}
	}
}

// Records whose checksum is right and whose content is none that this version writes.
func TestReadAckRefusesForeignRecords(t *testing.T) {
	payment := []int64{1, 1, 1, 1, 1, 100, tpcc.RunDate}
	for name, body := range map[string][]byte{
		"nothing":                {},
		"a type that only reads": {byte(tpcc.TxStockLevel)},
		"no type":                {9},
		"16 lines":               appendInts([]byte{byte(tpcc.TxNewOrder)}, append([]int64{1, 1, 13, 1, 1, 16}, make([]int64, 64)...)...),
		"-1 lines":               appendInts([]byte{byte(tpcc.TxNewOrder)}, 1, 1, 13, 1, 1, -1),
		"a field less":           appendInts([]byte{byte(tpcc.TxPayment)}, payment[:6]...),
		"a field more":           appendInts([]byte{byte(tpcc.TxPayment)}, append(payment, 0)...),
		"half a field":           append(appendInts([]byte{byte(tpcc.TxPayment)}, payment[:6]...), 0x80),
		"an id of 33 bits":       appendInts([]byte{byte(tpcc.TxPayment)}, append([]int64{1 << 33}, payment[1:]...)...),
		"a delivery cut short":   appendInts([]byte{byte(tpcc.TxDelivery)}, 1, 1, 1, 5, 5),
	} {
		record := endAck(append(make([]byte, ackHeader), body...), 0)
		if a, err := ReadAck(bytes.NewReader(record)); !errors.Is(err, ErrDamagedAck) {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	record := endAck(append(make([]byte, ackHeader), appendInts([]byte{byte(tpcc.TxPayment)}, payment...)...), 0)
	if _, err := ReadAck(bytes.NewReader(record)); err != nil {
		t.Errorf("the payment that the others are made of: %v", err)
	}
}

func TestReadAckReportsTheReadersError(t *testing.T) {
	broken := errors.New("broken pipe")
	if _, err := ReadAcks(io.MultiReader(bytes.NewReader([]byte{9}), failing{broken})); !errors.Is(err, broken) {
		t.Errorf("%v, not the reader's error", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestAppendAckDoesNotAllocate(t *testing.T) {
	in, out := &tpcc.NewOrderInput{Count: 15}, &tpcc.NewOrderOutput{}
	b := make([]byte, 0, 512)
	if n := testing.AllocsPerRun(1000, func() { b = AppendNewOrderAck(b[:0], in, out) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzReadAcks(f *testing.F) {
	_, note := afterRun(2)
	f.Add(note.acks[:300])
	f.Add(note.acks[:7])
	f.Fuzz(func(t *testing.T, b []byte) {
		acks, err := ReadAcks(bytes.NewReader(b))
		if err != nil && !errors.Is(err, ErrDamagedAck) {
			t.Fatal(err)
		}
		for _, a := range acks {
			if a.Type != tpcc.TxNewOrder && a.Type != tpcc.TxPayment && a.Type != tpcc.TxDelivery {
				t.Fatalf("%+v", a)
			}
		}
	})
}

package kvtpcc

import (
	"errors"
	"testing"

	"tpccbench/tpcc"
)

// begins notes at which key the scans of NEW-ORDER begin.
type begins struct {
	*memory
	from []string
}

func (b *begins) Scan(from, to []byte, visit func(key, value []byte) bool) error {
	if from[0] == tableByte(tpcc.NewOrder) {
		b.from = append(b.from, string(from))
	}
	return b.memory.Scan(from, to, visit)
}

// A Delivery begins to look where the one before has found its order, whoever that was, and finds the next one.
func TestDeliveryLooksFromTheLast(t *testing.T) {
	m := &begins{memory: loaded(t, 1)}
	shared, err := OpenShared(m)
	if err != nil {
		t.Fatal(err)
	}
	one, two := Work{Shared: shared}, Work{Shared: shared}
	var first, second tpcc.DeliveryOutput
	in := &tpcc.DeliveryInput{WID: 1, CarrierID: 1, DeliveryD: 1}
	if err := one.Delivery(m, in, &first); err != nil {
		t.Fatal(err)
	}
	m.from = nil
	if err := two.Delivery(m, in, &second); err != nil {
		t.Fatal(err)
	}
	for d := range first.OID {
		if first.OID[d] == 0 || second.OID[d] != first.OID[d]+1 {
			t.Errorf("district %d: order %d, then %d", d+1, first.OID[d], second.OID[d])
		}
		if key, _ := appendKey(nil, tpcc.NewOrder, 1, int64(d+1), int64(first.OID[d])); m.from[d] != string(key) {
			t.Errorf("district %d: the second began at %x, want %x", d+1, m.from[d], key)
		}
	}
}

// What a group has taken out of the queue is there again when the group is given up, and is delivered by the next one.
func TestDeliveryOfAGroupThatWasGivenUp(t *testing.T) {
	s := &store{memory: loaded(t, 1)}
	w := &Writer{begin: s.begin}
	deliver := func() *request {
		return &request{in: &tpcc.Input{Type: tpcc.TxDelivery, Delivery: tpcc.DeliveryInput{WID: 1, CarrierID: 1, DeliveryD: 1}}, out: new(tpcc.Output)}
	}
	lost := []*request{deliver(), deliver(), deliver()}
	w.runGroup(lost[:1])
	one := s.writes
	s.failAfter = s.writes + one + one/2 // in the second of the next two
	w.runGroup(lost[1:])
	if !errors.Is(lost[1].err, errFull) || !errors.Is(lost[2].err, errFull) {
		t.Fatalf("the store was full: %v, %v", lost[1].err, lost[2].err)
	}
	next := deliver()
	w.runGroup([]*request{next})
	for d, oid := range lost[0].out.Delivery.OID {
		if next.err != nil || oid == 0 || next.out.Delivery.OID[d] != oid+1 {
			t.Errorf("district %d: order %d before the lost group, %d after it, %v", d+1, oid, next.out.Delivery.OID[d], next.err)
		}
	}
}

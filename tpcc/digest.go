package tpcc

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// InputDigest is a SHA-256 over inputs, so that two runs can be shown to have had the same ones.
//
// An input is hashed as its type (1 byte), then the fields of that type's input in the order in which its struct
// declares them, 8 bytes each, little endian; a bool is 0 or 1; only the lines in use of a New-Order.
type InputDigest struct {
	sum hash.Hash
	buf []byte
}

// NewInputDigest returns the digest of no inputs.
func NewInputDigest() *InputDigest {
	return &InputDigest{sum: sha256.New(), buf: make([]byte, 0, 1+8*(5+3*MaxLines))}
}

// Add adds one input.
func (d *InputDigest) Add(in *Input) {
	d.buf = append(d.buf[:0], byte(in.Type))
	switch in.Type {
	case TxNewOrder:
		n := &in.NewOrder
		d.put(int64(n.WID), int64(n.DID), int64(n.CID), n.EntryD, int64(n.Count))
		for i := range n.Lines[:n.Count] {
			line := &n.Lines[i]
			d.put(int64(line.IID), int64(line.SupplyWID), int64(line.Quantity))
		}
	case TxPayment:
		p := &in.Payment
		d.put(int64(p.WID), int64(p.DID), int64(p.CWID), int64(p.CDID), number(p.ByName), int64(p.CLast), int64(p.CID),
			p.Amount, p.Date)
	case TxOrderStatus:
		o := &in.OrderStatus
		d.put(int64(o.WID), int64(o.DID), number(o.ByName), int64(o.CLast), int64(o.CID))
	case TxDelivery:
		d.put(int64(in.Delivery.WID), int64(in.Delivery.CarrierID), in.Delivery.DeliveryD)
	case TxStockLevel:
		d.put(int64(in.StockLevel.WID), int64(in.StockLevel.DID), int64(in.StockLevel.Threshold))
	}
	d.sum.Write(d.buf)
}

// String is the digest in hexadecimal.
func (d *InputDigest) String() string { return hex.EncodeToString(d.sum.Sum(nil)) }

func (d *InputDigest) put(values ...int64) {
	for _, v := range values {
		d.buf = binary.LittleEndian.AppendUint64(d.buf, uint64(v))
	}
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// DigestOfRun is the digest of what the terminals of a run drew: of the first counts[i] inputs of terminal i, terminal
// by terminal. It draws them again, so that a run need not hash while it is timed.
func DigestOfRun(seed uint64, s Scale, w Weights, counts []int64) string {
	d := NewInputDigest()
	var in Input
	for number, count := range counts {
		for t := NewTerminal(seed, number, s, w); count > 0; count-- {
			t.Next(&in)
			d.Add(&in)
		}
	}
	return d.String()
}

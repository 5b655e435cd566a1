package consistency

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"tpccbench/tpcc"
)

// Ack is one acknowledged write, as the process that made it tells the one that audits it after a kill. Which of the
// parts is in use, Type says.
//
// Encoded, an Ack is one record; a stream of Acks is records one after the other:
//
//	length   uint16, little endian: bytes of body
//	checksum uint32, little endian: CRC-32C of length and body
//	body     type (1 byte, as tpcc.Type), then the fields as signed varints (encoding/binary), in the order of:
//	         new_order: W_ID D_ID O_ID C_ID O_ENTRY_D lines, then OL_I_ID OL_SUPPLY_W_ID OL_QUANTITY OL_AMOUNT for each line
//	         payment:   H_W_ID H_D_ID H_C_W_ID H_C_D_ID H_C_ID H_AMOUNT H_DATE
//	         delivery:  W_ID O_CARRIER_ID OL_DELIVERY_D, then the O_ID delivered in district 1 to 10, 0 for none
//
// A record is at most 512 bytes, less than PIPE_BUF: one write to a pipe puts all of it there or nothing.
type Ack struct {
	Type     tpcc.Type // TxNewOrder, TxPayment or TxDelivery
	NewOrder AckNewOrder
	Payment  AckPayment
	Delivery AckDelivery
}

// AckNewOrder is an order that is in the database.
type AckNewOrder struct {
	WID, DID, OID, CID int32
	EntryD             int64
	Lines              []AckLine
}

// AckLine is one of its lines; Amount is OL_AMOUNT in cents.
type AckLine struct {
	IID, SupplyWID, Quantity int32
	Amount                   int64
}

// AckPayment is a row of HISTORY that is in the database.
type AckPayment struct {
	WID, DID, CWID, CDID, CID int32
	Amount                    int64 // cents
	Date                      int64
}

// AckDelivery is up to ten orders that are delivered; OID as in tpcc.DeliveryOutput.
type AckDelivery struct {
	WID, CarrierID int32
	DeliveryD      int64
	OID            [tpcc.Districts]int32
}

// Errors of ReadAck.
var (
	// ErrTornAck: the stream ends within a record, as it does when the writer was killed while writing it.
	ErrTornAck = errors.New("incomplete acknowledgement at the end")
	// ErrDamagedAck: a whole record whose checksum or content is wrong.
	ErrDamagedAck = errors.New("damaged acknowledgement")
)

const (
	ackHeader  = 6
	maxAckBody = 506
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendNewOrderAck appends the record of an acknowledged New-Order to b; of one that rolled back, which wrote nothing,
// nothing.
func AppendNewOrderAck(b []byte, in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) []byte {
	if out.RolledBack {
		return b
	}
	b, start := beginAck(b, tpcc.TxNewOrder)
	b = appendInts(b, int64(in.WID), int64(in.DID), int64(out.OID), int64(in.CID), in.EntryD, int64(in.Count))
	for i := range in.Lines[:in.Count] {
		line := &in.Lines[i]
		b = appendInts(b, int64(line.IID), int64(line.SupplyWID), int64(line.Quantity), out.Lines[i].Amount)
	}
	return endAck(b, start)
}

// AppendPaymentAck appends the record of an acknowledged Payment to b.
func AppendPaymentAck(b []byte, in *tpcc.PaymentInput, out *tpcc.PaymentOutput) []byte {
	b, start := beginAck(b, tpcc.TxPayment)
	b = appendInts(b, int64(in.WID), int64(in.DID), int64(in.CWID), int64(in.CDID), int64(out.CID), in.Amount, in.Date)
	return endAck(b, start)
}

// AppendDeliveryAck appends the record of an acknowledged Delivery to b.
func AppendDeliveryAck(b []byte, in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) []byte {
	b, start := beginAck(b, tpcc.TxDelivery)
	b = appendInts(b, int64(in.WID), int64(in.CarrierID), in.DeliveryD)
	for _, id := range out.OID {
		b = binary.AppendVarint(b, int64(id))
	}
	return endAck(b, start)
}

func appendInts(b []byte, values ...int64) []byte {
	for _, v := range values {
		b = binary.AppendVarint(b, v)
	}
	return b
}

func beginAck(b []byte, t tpcc.Type) (record []byte, start int) {
	start = len(b)
	return append(append(b, make([]byte, ackHeader)...), byte(t)), start
}

func endAck(b []byte, start int) []byte {
	record := b[start:]
	binary.LittleEndian.PutUint16(record, uint16(len(record)-ackHeader))
	binary.LittleEndian.PutUint32(record[2:], ackChecksum(record))
	return b
}

func ackChecksum(record []byte) uint32 {
	return crc32.Update(crc32.Checksum(record[:2], castagnoli), castagnoli, record[ackHeader:])
}

// ReadAck reads the next record of r, which should be buffered. It returns io.EOF at the end of the stream, ErrTornAck
// if the stream ends within a record, an error that wraps ErrDamagedAck for a record that is wrong, or r's error.
func ReadAck(r io.Reader) (Ack, error) {
	var record [ackHeader + maxAckBody]byte
	if _, err := io.ReadFull(r, record[:ackHeader]); err != nil {
		return Ack{}, torn(err)
	}
	n := int(binary.LittleEndian.Uint16(record[:]))
	if n < 1 || n > maxAckBody {
		return Ack{}, fmt.Errorf("%w: its length is %d, not 1..%d", ErrDamagedAck, n, maxAckBody)
	}
	if _, err := io.ReadFull(r, record[ackHeader:ackHeader+n]); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return Ack{}, torn(err)
	}
	if want, got := binary.LittleEndian.Uint32(record[2:]), ackChecksum(record[:ackHeader+n]); want != got {
		return Ack{}, fmt.Errorf("%w: its checksum is %08x, not %08x", ErrDamagedAck, got, want)
	}
	return decodeAck(record[ackHeader : ackHeader+n])
}

func torn(err error) error {
	if err == io.ErrUnexpectedEOF {
		return ErrTornAck
	}
	return err
}

// ReadAcks reads all of r. A torn record at the end was never acknowledged as a whole and is left out; any other error
// is returned, with the Acks before it.
func ReadAcks(r io.Reader) ([]Ack, error) {
	var acks []Ack
	for {
		a, err := ReadAck(r)
		switch {
		case err == io.EOF || errors.Is(err, ErrTornAck):
			return acks, nil
		case err != nil:
			return acks, fmt.Errorf("acknowledgement %d: %w", len(acks)+1, err)
		}
		acks = append(acks, a)
	}
}

// ackFields takes varints off a body; after the first that is not there, or not in 32 bits where it must be, bad is set.
type ackFields struct {
	body []byte
	bad  bool
}

func (f *ackFields) int64() int64 {
	v, n := binary.Varint(f.body)
	if n <= 0 {
		f.bad = true
		return 0
	}
	f.body = f.body[n:]
	return v
}

func (f *ackFields) int32() int32 {
	v := f.int64()
	if int64(int32(v)) != v {
		f.bad = true
	}
	return int32(v)
}

func decodeAck(body []byte) (Ack, error) {
	a := Ack{Type: tpcc.Type(body[0])}
	f := ackFields{body: body[1:]}
	switch a.Type {
	case tpcc.TxNewOrder:
		o := &a.NewOrder
		o.WID, o.DID, o.OID, o.CID, o.EntryD = f.int32(), f.int32(), f.int32(), f.int32(), f.int64()
		n := f.int64()
		if n < 0 || n > tpcc.MaxLines {
			return Ack{}, fmt.Errorf("%w: an order of %d lines", ErrDamagedAck, n)
		}
		o.Lines = make([]AckLine, n)
		for i := range o.Lines {
			o.Lines[i] = AckLine{f.int32(), f.int32(), f.int32(), f.int64()}
		}
	case tpcc.TxPayment:
		a.Payment = AckPayment{f.int32(), f.int32(), f.int32(), f.int32(), f.int32(), f.int64(), f.int64()}
	case tpcc.TxDelivery:
		a.Delivery = AckDelivery{WID: f.int32(), CarrierID: f.int32(), DeliveryD: f.int64()}
		for i := range a.Delivery.OID {
			a.Delivery.OID[i] = f.int32()
		}
	default:
		return Ack{}, fmt.Errorf("%w: its type is %d", ErrDamagedAck, body[0])
	}
	if f.bad || len(f.body) > 0 {
		return Ack{}, fmt.Errorf("%w: its fields are not those of a %s", ErrDamagedAck, a.Type)
	}
	return a, nil
}

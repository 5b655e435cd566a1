package tpcc

// Type names one of the five transactions of clause 2.
type Type uint8

// The five transactions, in the order in which results list them.
const (
	TxNewOrder Type = iota
	TxPayment
	TxOrderStatus
	TxDelivery
	TxStockLevel
	NumTypes int = iota
)

// Types lists the five transactions.
var Types = [NumTypes]Type{TxNewOrder, TxPayment, TxOrderStatus, TxDelivery, TxStockLevel}

// String is the transaction's name as in the columns of results: new_order and so on.
func (t Type) String() string {
	return [NumTypes]string{"new_order", "payment", "order_status", "delivery", "stock_level"}[t]
}

// ReadOnly reports whether the transaction writes nothing.
func (t Type) ReadOnly() bool { return t == TxOrderStatus || t == TxStockLevel }

// NewOrderInput is the input of a New-Order (clause 2.4.1). The first Count of Lines are in use.
type NewOrderInput struct {
	WID, DID, CID int32
	EntryD        int64 // O_ENTRY_D, ms since the Unix epoch
	Count         int32 // O_OL_CNT, 5..15
	Lines         [MaxLines]NewOrderInputLine
}

// NewOrderInputLine is one ordered item. An IID that is in no ITEM row (the unused value of clause 2.4.1.5, always on
// the last line) makes the transaction roll back, after the lines before it have been worked on.
type NewOrderInputLine struct {
	IID, SupplyWID, Quantity int32
}

// AllLocal is O_ALL_LOCAL: 1 if every line is supplied by the home warehouse, else 0 (clause 2.4.2.2).
func (in *NewOrderInput) AllLocal() int64 {
	for i := range in.Lines[:in.Count] {
		if in.Lines[i].SupplyWID != in.WID {
			return 0
		}
	}
	return 1
}

// NewOrderOutput is what the terminal shows (clause 2.4.3.3). After a rollback RolledBack is true and, as the
// specification wants for that case (clause 2.4.3.4), OID, CLast, CCredit, CDiscount, WTax, DTax are those that were
// read and the rest is zero.
type NewOrderOutput struct {
	RolledBack     bool
	OID            int32 // the order's number, as read from D_NEXT_O_ID
	CLast, CCredit int32
	CDiscount      int64 // basis points
	WTax, DTax     int64 // basis points
	TotalAmount    int64 // cents, by TotalAmount
	Lines          [MaxLines]NewOrderOutputLine
}

// NewOrderOutputLine is one line of the order as shown.
type NewOrderOutputLine struct {
	Price     int64 // I_PRICE, cents
	SQuantity int64 // after the order
	Amount    int64 // OL_AMOUNT, cents
}

// TotalAmount is sum(OL_AMOUNT) * (1 - C_DISCOUNT) * (1 + W_TAX + D_TAX) of clause 2.4.2.2 in cents, rounded half up.
// sum is in cents, the rates are in basis points.
func TotalAmount(sum, discount, wTax, dTax int64) int64 {
	return (sum*(10_000-discount)*(10_000+wTax+dTax) + 50_000_000) / 100_000_000
}

// StockAfter is S_QUANTITY after quantity of it was ordered (clause 2.4.2.2): 91 are added when fewer than 10 would
// be left.
func StockAfter(sQuantity, quantity int64) int64 {
	if sQuantity >= quantity+10 {
		return sQuantity - quantity
	}
	return sQuantity - quantity + 91
}

// PaymentInput is the input of a Payment (clause 2.5.1).
type PaymentInput struct {
	WID, DID   int32 // where it is paid
	CWID, CDID int32 // the customer's warehouse and district
	ByName     bool  // select by CLast, else by CID
	CLast, CID int32
	Amount     int64 // H_AMOUNT, cents
	Date       int64 // H_DATE, ms since the Unix epoch
}

// PaymentOutput is what the terminal shows (clause 2.5.3.3): the customer after the payment.
type PaymentOutput struct {
	CID, CLast, CCredit int32
	CSince              int64
	CCreditLim          int64 // cents
	CDiscount           int64 // basis points
	CBalance            int64 // cents
}

// OrderStatusInput is the input of an Order-Status (clause 2.6.1).
type OrderStatusInput struct {
	WID, DID   int32
	ByName     bool // select by CLast, else by CID
	CLast, CID int32
}

// OrderStatusOutput is what the terminal shows (clause 2.6.3.3): the customer and the newest order, if there is one
// (OID 0: none). The first Count of Lines are in use, in OL_NUMBER order.
type OrderStatusOutput struct {
	CID, CLast int32
	CBalance   int64 // cents
	OID        int32
	CarrierID  int32 // or Null
	EntryD     int64
	Count      int32
	Lines      [MaxLines]OrderStatusLine
}

// OrderStatusLine is one line of the order as shown.
type OrderStatusLine struct {
	IID, SupplyWID, Quantity int32
	Amount                   int64 // cents
	DeliveryD                int64 // ms since the Unix epoch, or Null
}

// DeliveryInput is the input of a Delivery (clause 2.7.1).
type DeliveryInput struct {
	WID, CarrierID int32
	DeliveryD      int64 // OL_DELIVERY_D, ms since the Unix epoch
}

// DeliveryOutput gives, for district d, the order delivered at OID[d-1]; 0 where the district had no new order and
// was skipped (clause 2.7.4.2).
type DeliveryOutput struct {
	OID [Districts]int32
}

// Skipped is the number of districts without a new order.
func (o *DeliveryOutput) Skipped() int {
	n := 0
	for _, id := range o.OID {
		if id == 0 {
			n++
		}
	}
	return n
}

// StockLevelInput is the input of a Stock-Level (clause 2.8.1).
type StockLevelInput struct {
	WID, DID, Threshold int32
}

// StockLevelOutput is the number of distinct items among the last 20 orders' lines whose stock in the terminal's
// warehouse is below the threshold (clause 2.8.2.2).
type StockLevelOutput struct {
	LowStock int32
}

// Last20 is the number of newest orders that Stock-Level looks at: O_ID in [D_NEXT_O_ID-20, D_NEXT_O_ID).
const Last20 = 20

// MiddleOf is the position (0-based) of the customer that a selection by last name takes among n sorted ones: row
// ceil(n/2) of clause 2.5.2.2, n at least 1. In the numeric profile the sorting is by C_ID.
func MiddleOf(n int) int { return (n+1)/2 - 1 }

package tpcc

// Input is one transaction as a terminal drew it: Type, and the input of that type. The other four inputs, and the
// lines of NewOrder after its Count, hold what earlier draws left there.
type Input struct {
	Type        Type
	NewOrder    NewOrderInput
	Payment     PaymentInput
	OrderStatus OrderStatusInput
	Delivery    DeliveryInput
	StockLevel  StockLevelInput
}

// Terminal draws the inputs of one terminal. They are a function of the seed, the terminal's number, the scale and the
// weights; no other terminal's draws and no clock have a part in them. A Terminal is used by one goroutine at a time.
type Terminal struct {
	rnd       stream
	constants Constants
	weights   Weights
	sum       int64
	scale     Scale
	home      int32 // W_ID
	district  int32 // D_ID, for Stock-Level only
	date      int64 // of the transaction drawn last, ms
}

// NewTerminal makes terminal number (from 0) of a run. Scale and weights must be valid. Its home warehouse is number
// mod W, plus 1; its home district (clause 2.8.1.1) is the next one each time all warehouses have had a terminal.
func NewTerminal(seed uint64, number int, s Scale, w Weights) *Terminal {
	return &Terminal{
		rnd:       newStream(seed, forTerminal, uint64(number)),
		constants: NewConstants(seed),
		weights:   w,
		sum:       w.sum(),
		scale:     s,
		home:      int32(number%s.Warehouses) + 1,
		district:  int32(number/s.Warehouses%Districts) + 1,
		date:      RunDate,
	}
}

// Next draws the next transaction into in, without allocating. Its date, where it has one, is RunDate plus its number
// in the terminal's stream, from 1, in ms.
func (t *Terminal) Next(in *Input) {
	t.date++
	in.Type = t.nextType()
	switch in.Type {
	case TxNewOrder:
		t.newOrder(&in.NewOrder)
	case TxPayment:
		t.payment(&in.Payment)
	case TxOrderStatus:
		t.orderStatus(&in.OrderStatus)
	case TxDelivery:
		t.delivery(&in.Delivery)
	case TxStockLevel:
		t.stockLevel(&in.StockLevel)
	}
}

// nextType draws a type by the weights (clause 5.2.4.1).
func (t *Terminal) nextType() Type {
	x := t.rnd.below(t.sum)
	for _, typ := range Types {
		if x -= int64(t.weights[typ]); x < 0 {
			return typ
		}
	}
	panic("tpcc: weights changed during a run")
}

// HomeWarehouse is the terminal's W_ID.
func (t *Terminal) HomeWarehouse() int32 { return t.home }

// HomeDistrict is the D_ID that the terminal's Stock-Levels use.
func (t *Terminal) HomeDistrict() int32 { return t.district }

// anyDistrict draws a D_ID.
func (t *Terminal) anyDistrict() int32 { return int32(t.rnd.between(1, Districts)) }

// customer draws a C_ID by NURand(1023) (clauses 2.4.1.2, 2.5.1.2 and 2.6.1.2).
func (t *Terminal) customer() int32 {
	return int32(t.rnd.nuRand(ACustomer, t.constants.Customer, 1, int64(t.scale.Customers)))
}

// customerOrName draws how a customer is selected: 60 % by last name, NURand(255), else by C_ID (clauses 2.5.1.2 and
// 2.6.1.2). The value that is not used is 0.
func (t *Terminal) customerOrName() (byName bool, last, id int32) {
	if t.rnd.percent(60) {
		return true, int32(t.rnd.nuRand(ALast, t.constants.LastRun, 0, int64(t.scale.LastNames())-1)), 0
	}
	return false, 0, t.customer()
}

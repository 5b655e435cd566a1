package kvtpcc

import (
	"fmt"
	"slices"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// StockLevel is clause 2.8.2.2. The stock is read in the order of keys, each row once.
func (w *Work) StockLevel(r Reader, in *tpcc.StockLevelInput, out *tpcc.StockLevelOutput) error {
	w.start()
	*out = tpcc.StockLevelOutput{}
	wid, did := int64(in.WID), int64(in.DID)
	if ok, err := w.get(r, &w.district, tpcc.District, wid, did); err != nil || !ok {
		return orMissing(err, "district %d of warehouse %d", in.DID, in.WID)
	}
	// The distinct items of the lines with OL_O_ID in [D_NEXT_O_ID-20, D_NEXT_O_ID).
	next := w.district.Col[tpcc.DNextOID]
	from, okFrom := appendKey(w.key[:0], tpcc.OrderLine, wid, did, max(next-tpcc.Last20, 0))
	to, okTo := appendKey(w.to[:0], tpcc.OrderLine, wid, did, next)
	w.key, w.to, w.found.items = from, to, w.found.items[:0]
	if !okFrom || !okTo {
		return fmt.Errorf("%w: D_NEXT_O_ID of district %d of warehouse %d is %d", engines.ErrCorrupt, in.DID, in.WID, next)
	}
	if err := w.scanTo(r, w.found.visitItems); err != nil {
		return err
	}
	slices.Sort(w.found.items)
	w.found.items = slices.Compact(w.found.items)
	// Those whose S_QUANTITY is below the threshold.
	stock := &w.stock[0]
	for _, item := range w.found.items {
		if ok, err := w.get(r, stock, tpcc.Stock, wid, int64(item)); err != nil {
			return err
		} else if !ok {
			return lost("stock of item %d in warehouse %d", item, in.WID)
		}
		if stock.Col[tpcc.SQuantity] < int64(in.Threshold) {
			out.LowStock++
		}
	}
	return nil
}

package tpcc

import (
	"fmt"
	"strconv"
	"strings"
)

// Weights say how often each transaction type is drawn, relative to their sum; in the order of Types.
type Weights [NumTypes]int

// maxWeight bounds one weight, so that a sum of weights is exact.
const maxWeight = 1_000_000

// StandardMix is New-Order 45, Payment 43, Order-Status 4, Delivery 4, Stock-Level 4 (clause 5.2.3).
func StandardMix() Weights { return Weights{45, 43, 4, 4, 4} }

// ParseWeights reads weights as String writes them: 45,43,4,4,4.
func ParseWeights(text string) (Weights, error) {
	var w Weights
	fields := strings.Split(text, ",")
	if len(fields) != NumTypes {
		return w, fmt.Errorf("weights %q: %d numbers are needed, for new_order,payment,order_status,delivery,stock_level",
			text, NumTypes)
	}
	for i, field := range fields {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil {
			return w, fmt.Errorf("weights %q: %q is not a whole number", text, field)
		}
		w[i] = n
	}
	return w, w.Validate()
}

// Validate says what is wrong with the weights, or nil.
func (w Weights) Validate() error {
	for _, t := range Types {
		if w[t] < 0 || w[t] > maxWeight {
			return fmt.Errorf("weights %s: the weight of %s must be 0..%d", w, t, maxWeight)
		}
	}
	if w.sum() == 0 {
		return fmt.Errorf("weights %s: at least one must be above 0", w)
	}
	return nil
}

// String is the weights with commas: 45,43,4,4,4.
func (w Weights) String() string {
	fields := make([]string, NumTypes)
	for i, n := range w {
		fields[i] = strconv.Itoa(n)
	}
	return strings.Join(fields, ",")
}

func (w Weights) sum() int64 {
	n := int64(0)
	for _, x := range w {
		n += int64(x)
	}
	return n
}

package pure

import (
	"testing"

	"tpccbench/engines/pure/store"
	"tpccbench/tpcc"
)

// TestSchema: the store's tables have the workload's columns in their order, wide enough for what their Bytes promise
// (dates and credit limits, which are wider on paper than any value, excepted), with the same key.
func TestSchema(t *testing.T) {
	narrower := map[string]int{"c_since": dateBits, "o_entry_d": dateBits, "ol_delivery_d": dateBits, "h_date": dateBits, "c_credit_lim": 48}
	// Ids whose width the largest warehouse, district, order and line number decide.
	ids := map[string]int{"w_id": warehouseBits, "d_id": districtBits, "o_id": orderBits, "ol_number": lineBits,
		"ol_supply_w_id": warehouseBits, "h_c_w_id": warehouseBits, "h_c_d_id": districtBits}
	if tpcc.MaxWarehouses >= 1<<warehouseBits || tpcc.Districts >= 1<<districtBits || tpcc.MaxLines >= 1<<lineBits {
		t.Error("a key part is too narrow")
	}
	for _, table := range tpcc.Tables {
		want, got := table.Schema(), &schema.Tables[table]
		if got.Name != want.Name || len(got.Key) != want.Key || got.Append != (want.Key == 0) {
			t.Errorf("table %s: named %s, key of %d parts, append %v", want.Name, got.Name, len(got.Key), got.Append)
		}
		var names []string
		var bits []int
		for _, p := range got.Key {
			names, bits = append(names, p.Name), append(bits, p.Bits)
		}
		for _, f := range got.Fields {
			names, bits = append(names, f.Name), append(bits, f.Bits)
		}
		if len(names) != len(want.Columns) {
			t.Errorf("table %s has %d columns, want %d", want.Name, len(names), len(want.Columns))
			continue
		}
		for i, c := range want.Columns {
			least := 8 * c.Bytes
			for suffix, b := range ids {
				if len(c.Name) >= len(suffix) && c.Name[len(c.Name)-len(suffix):] == suffix {
					least = b
				}
			}
			if b, ok := narrower[c.Name]; ok {
				least = b
			}
			if names[i] != c.Name || bits[i] < least && c.Name != "c_credit" && c.Name != "o_all_local" {
				t.Errorf("column %s of %s: %s with %d bits, want %d", c.Name, want.Name, names[i], bits[i], least)
			}
		}
	}
}

// TestKeys: the keys that transactions shift together are those that the schema packs.
func TestKeys(t *testing.T) {
	const w, d, c, o, n, i = 4096, 10, 65535, 1<<orderBits - 1, 15, 1<<itemBits - 1
	for name, k := range map[string]struct {
		got   uint64
		table store.TableID
		parts []uint64
	}{
		"district": {districtKey(w, d), districts, []uint64{w, d}},
		"customer": {customerKey(w, d, c), customers, []uint64{w, d, c}},
		"order":    {orderKey(w, d, o), orders, []uint64{w, d, o}},
		"line":     {lineKey(orderKey(w, d, o), n), orderLines, []uint64{w, d, o, n}},
		"stock":    {stockKey(w, i), stocks, []uint64{w, i}},
	} {
		if want := schema.Tables[k.table].PackKey(k.parts...); k.got != want {
			t.Errorf("%s: key %#x, want %#x", name, k.got, want)
		}
	}
}

// TestItemSet: an item is new once in each round, at the largest number of items too.
func TestItemSet(t *testing.T) {
	var s itemSet
	for round := range 3 {
		s.clear()
		for pass := range 2 {
			for item := int32(1); item <= tpcc.Last20*tpcc.MaxLines; item++ {
				if s.add(item*331) != (pass == 0) {
					t.Fatalf("round %d, pass %d: item %d", round, pass, item*331)
				}
			}
		}
	}
}

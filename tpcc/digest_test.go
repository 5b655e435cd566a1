package tpcc

import (
	"reflect"
	"testing"
)

func digestOfOne(in *Input) string {
	d := NewInputDigest()
	d.Add(in)
	return d.String()
}

// Every field in use of every type is in the digest, and nothing else is.
func TestInputDigestSeesEveryUsedField(t *testing.T) {
	for _, typ := range Types {
		in := Input{Type: typ}
		in.NewOrder.Count = 5
		fields := map[string]reflect.Value{}
		collect(fields, "", reflect.ValueOf(&in).Elem())
		used := 0
		for name, field := range fields {
			before := digestOfOne(&in)
			old := reflect.New(field.Type()).Elem()
			old.Set(field)
			switch field.Kind() {
			case reflect.Bool:
				field.SetBool(!field.Bool())
			case reflect.Uint8:
				field.SetUint(uint64((typ + 1) % Type(NumTypes)))
			default:
				field.SetInt(field.Int() + 1)
			}
			changed := digestOfOne(&in) != before
			field.Set(old)
			if changed {
				used++
			}
			if !changed && inUse(typ, name) {
				t.Errorf("%s: the digest does not see %s", typ, name)
			}
			if changed && !inUse(typ, name) {
				t.Errorf("%s: the digest sees %s, which is not in use", typ, name)
			}
		}
		if used < 4 {
			t.Errorf("%s: only %d fields are in the digest", typ, used)
		}
	}
}

// collect finds the plain fields below v, by path.
func collect(fields map[string]reflect.Value, path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			collect(fields, path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			collect(fields, path+"."+string(rune('a'+i)), v.Index(i))
		}
	default:
		fields[path] = v
	}
}

func inUse(typ Type, name string) bool {
	if name == ".Type" {
		return true
	}
	part := [NumTypes]string{".NewOrder.", ".Payment.", ".OrderStatus.", ".Delivery.", ".StockLevel."}[typ]
	if len(name) < len(part) || name[:len(part)] != part {
		return false
	}
	const lines = ".NewOrder.Lines."
	return len(name) <= len(lines) || name[:len(lines)] != lines || name[len(lines)] < 'a'+5
}

func TestInputDigestSeesTheOrder(t *testing.T) {
	a, b := Input{Type: TxDelivery}, Input{Type: TxStockLevel}
	d, e := NewInputDigest(), NewInputDigest()
	d.Add(&a)
	d.Add(&b)
	e.Add(&b)
	e.Add(&a)
	if d.String() == e.String() {
		t.Error("the order of two inputs is not in the digest")
	}
}

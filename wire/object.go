package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// object is the members of a JSON object that stands for a T, in the order in which they are written; at most 64. It is
// one table for both directions, so that reading and writing cannot differ.
type object[T any] []member[T]

// member is one member of an object.
type member[T any] struct {
	name  string
	write func(b []byte, v *T) []byte
	read  func(d *decoder, v *T) error
}

// write appends v as JSON without any white space.
func (o object[T]) write(b []byte, v *T) []byte {
	for i := range o {
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		b = append(b, separator, '"')
		b = append(b, o[i].name...)
		b = append(b, '"', ':')
		b = o[i].write(b, v)
	}
	return append(b, '}')
}

// read reads the next value into v, of which it sets all members, or says what is wrong with it.
func (o object[T]) read(d *decoder, v *T) error {
	if err := d.begin('{', "an object"); err != nil {
		return err
	}
	var seen uint64
	for d.json.PeekKind() == '"' {
		i, err := o.index(d)
		if err != nil {
			return err
		}
		if seen&(1<<i) != 0 {
			return &memberError{o[i].name, errTwice}
		}
		seen |= 1 << i
		if err := o[i].read(d, v); err != nil {
			return within(o[i].name, err)
		}
	}
	if err := d.end(); err != nil {
		return err
	}
	for i := range o {
		if seen&(1<<i) == 0 {
			return &memberError{o[i].name, errMissing}
		}
	}
	return nil
}

// index reads a name and finds it.
func (o object[T]) index(d *decoder) (int, error) {
	name, err := d.name()
	if err != nil {
		return 0, err
	}
	for i := range o {
		if o[i].name == string(name) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("there is no member %.40q", name)
}

var (
	errTwice   = errors.New("is there twice")
	errMissing = errors.New("is missing")
	errEarly   = errors.New("the JSON ends too early")
)

// within names the member that an error is in. Where the JSON itself is wrong, it says the place already.
func within(name string, err error) error {
	var syntax *jsontext.SyntacticError
	if err == errEarly || errors.As(err, &syntax) {
		return err
	}
	if at, ok := err.(*memberError); ok {
		return &memberError{name + at.separator() + at.path, at.err}
	}
	return &memberError{name, err}
}

// memberError is what is wrong with a member.
type memberError struct {
	path string // such as lines[3].quantity
	err  error
}

func (e *memberError) Error() string { return e.path + " " + e.err.Error() }
func (e *memberError) Unwrap() error { return e.err }

// separator is what stands between the path and the name of what it is in.
func (e *memberError) separator() string {
	if e.path[0] == '[' {
		return ""
	}
	return "."
}

// number is a whole number from low to high.
func number[T any, N int32 | int64](name string, low, high int64, at func(*T) *N) member[T] {
	return member[T]{
		name:  name,
		write: func(b []byte, v *T) []byte { return strconv.AppendInt(b, int64(*at(v)), 10) },
		read: func(d *decoder, v *T) error {
			n, err := d.number(low, high, false)
			*at(v) = N(n)
			return err
		},
	}
}

// nullable is a whole number from 1 to high, or null, which is 0 in a T.
func nullable[T any, N int32 | int64](name string, high int64, at func(*T) *N) member[T] {
	return member[T]{
		name:  name,
		write: func(b []byte, v *T) []byte { return appendNullable(b, int64(*at(v))) },
		read: func(d *decoder, v *T) error {
			n, err := d.number(1, high, true)
			*at(v) = N(n)
			return err
		},
	}
}

func appendNullable(b []byte, n int64) []byte {
	if n == 0 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, n, 10)
}

// boolean is true or false.
func boolean[T any](name string, at func(*T) *bool) member[T] {
	return member[T]{
		name:  name,
		write: func(b []byte, v *T) []byte { return strconv.AppendBool(b, *at(v)) },
		read: func(d *decoder, v *T) (err error) {
			*at(v), err = d.boolean()
			return err
		},
	}
}

// nullables is an array of exactly len(*at(v)) numbers as nullable has them.
func nullables[T any](name string, high int64, at func(*T) []int32) member[T] {
	return member[T]{
		name: name,
		write: func(b []byte, v *T) []byte {
			b = append(b, '[')
			for i, n := range at(v) {
				if i > 0 {
					b = append(b, ',')
				}
				b = appendNullable(b, int64(n))
			}
			return append(b, ']')
		},
		read: func(d *decoder, v *T) error {
			to := at(v)
			n, err := d.array(len(to), func(i int) error {
				id, err := d.number(1, high, true)
				to[i] = int32(id)
				return err
			})
			if err == nil && n < len(to) {
				err = fmt.Errorf("has %d elements; it must have %d", n, len(to))
			}
			return err
		},
	}
}

// list is an array of at least low objects, at most as many as at(v) has room for; the others of them are set to zero.
func list[T, E any](name string, low int, at func(*T) []E, length func(*T) int, setLength func(*T, int), elements object[E]) member[T] {
	return member[T]{
		name: name,
		write: func(b []byte, v *T) []byte {
			b = append(b, '[')
			from := at(v)
			for i := range from[:length(v)] {
				if i > 0 {
					b = append(b, ',')
				}
				b = elements.write(b, &from[i])
			}
			return append(b, ']')
		},
		read: func(d *decoder, v *T) error {
			to := at(v)
			n, err := d.array(len(to), func(i int) error { return elements.read(d, &to[i]) })
			if err == nil && n < low {
				err = fmt.Errorf("has %d elements; it must have %d..%d", n, low, len(to))
			}
			clear(to[n:])
			setLength(v, n)
			return err
		},
	}
}

// decoder reads one body. It is used again and again, and then allocates nothing for a body without mistakes.
type decoder struct {
	json    *jsontext.Decoder
	buffer  bytes.Buffer
	scratch []byte
}

// decoderOptions: objects find names that are there twice themselves.
var decoderOptions = []jsontext.Options{jsontext.AllowDuplicateNames(true)}

// decode reads body as one JSON object into v.
func decode[T any](d *decoder, o object[T], body []byte, v *T) error {
	d.buffer = *bytes.NewBuffer(body)
	if d.json == nil {
		d.json = jsontext.NewDecoder(&d.buffer, decoderOptions...)
	} else {
		d.json.Reset(&d.buffer, decoderOptions...)
	}
	if err := o.read(d, v); err != nil {
		return err
	}
	if _, err := d.json.ReadToken(); err != io.EOF {
		return errors.New("something follows the object")
	}
	return nil
}

// syntax is an error of the JSON itself.
func (d *decoder) syntax(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errEarly
	}
	return err
}

// begin reads the beginning of an object or array.
func (d *decoder) begin(kind jsontext.Kind, what string) error {
	if found := d.json.PeekKind(); found != kind && found != 0 {
		return fmt.Errorf("must be %s", what)
	}
	_, err := d.json.ReadToken()
	return d.syntax(err)
}

// end reads the end of an object or array, which must come next.
func (d *decoder) end() error {
	_, err := d.json.ReadToken()
	return d.syntax(err)
}

// name reads the name of a member. It is valid until the next one is read.
func (d *decoder) name() ([]byte, error) {
	raw, err := d.json.ReadValue()
	if err != nil {
		return nil, d.syntax(err)
	}
	if text := raw[1 : len(raw)-1]; bytes.IndexByte(text, '\\') < 0 {
		return text, nil
	}
	d.scratch, err = jsontext.AppendUnquote(d.scratch[:0], raw)
	return d.scratch, err
}

// array reads an array of at most most elements, each by element, and returns how many there were.
func (d *decoder) array(most int, element func(i int) error) (n int, err error) {
	if err := d.begin('[', "an array"); err != nil {
		return 0, err
	}
	for d.json.PeekKind() != ']' {
		if n == most {
			return n, fmt.Errorf("has more than %d elements", most)
		}
		if err := element(n); err != nil {
			return n, within("["+strconv.Itoa(n)+"]", err)
		}
		n++
	}
	return n, d.end()
}

// boolean reads true or false.
func (d *decoder) boolean() (bool, error) {
	kind := d.json.PeekKind()
	raw, err := d.json.ReadValue()
	switch {
	case err != nil:
		return false, d.syntax(err)
	case kind != 't' && kind != 'f':
		return false, fmt.Errorf("is %.40s; it must be true or false", raw)
	}
	return kind == 't', nil
}

// number reads a whole number from low to high, or null as 0 where it may be null.
func (d *decoder) number(low, high int64, mayBeNull bool) (int64, error) {
	raw, err := d.json.ReadValue()
	if err != nil {
		return 0, d.syntax(err)
	}
	if mayBeNull && string(raw) == "null" {
		return 0, nil
	}
	if n, ok := whole(raw); ok && n >= low && n <= high {
		return n, nil
	}
	or := ""
	if mayBeNull {
		or = ", or null"
	}
	return 0, fmt.Errorf("is %.40s; it must be a whole number %d..%d%s", raw, low, high, or)
}

var minus = []byte{'-'}

// whole is the number that raw is, if it is digits alone, with a sign or without.
func whole(raw []byte) (int64, bool) {
	digits, negative := bytes.CutPrefix(raw, minus)
	if len(digits) == 0 || len(digits) > 19 {
		return 0, false
	}
	var n uint64 // below 10^19
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	switch {
	case n <= math.MaxInt64 && negative:
		return -int64(n), true
	case n <= math.MaxInt64:
		return int64(n), true
	case negative && n == 1<<63:
		return math.MinInt64, true
	}
	return 0, false
}

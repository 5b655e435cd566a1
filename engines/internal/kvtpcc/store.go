package kvtpcc

// Reader reads one state of an ordered key-value store.
type Reader interface {
	// Get returns the value of key, or nil if there is none. It is valid until the next call on the Reader.
	// It is asked for no key whose value is empty.
	Get(key []byte) ([]byte, error)
	// Scan visits the entries with from <= key < to in ascending order of keys until visit returns false. key and value
	// are valid during the visit only; visit calls nothing on the Reader.
	Scan(from, to []byte, visit func(key, value []byte) bool) error
}

// Tx is a transaction: a Reader that sees its own writes, and writes. key and value are the caller's again once a call
// has returned; a store that keeps them copies them.
type Tx interface {
	Reader
	Set(key, value []byte) error
	Delete(key []byte) error
}

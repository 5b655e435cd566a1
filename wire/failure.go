package wire

import (
	"errors"
	"fmt"
	"net/http"
	"syscall"

	"github.com/go-json-experiment/json"

	"tpccbench/engines"
)

// kinds names the errors that go over the wire as what they are.
var kinds = []struct {
	name string
	err  error
}{
	{"failed", engines.ErrFailed},
	{"indeterminate", engines.ErrIndeterminate},
	{"corrupt", engines.ErrCorrupt},
	{"no_space", syscall.ENOSPC},
	{"quota", syscall.EDQUOT},
	{"file_too_large", syscall.EFBIG},
}

// failure is the body of an answer that is not 200.
type failure struct {
	Error string   `json:"error"`
	Kinds []string `json:"kinds,omitempty"`
}

// failureOf is the answer to a request that the engine failed with err.
func failureOf(err error) (status int, f failure) {
	f.Error = err.Error()
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			f.Kinds = append(f.Kinds, k.name)
		}
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return http.StatusInsufficientStorage, f
	case errors.Is(err, engines.ErrFailed):
		return http.StatusServiceUnavailable, f
	}
	return http.StatusInternalServerError, f
}

// body is f as JSON.
func (f *failure) body() []byte {
	b, err := json.Marshal(f)
	if err != nil { // text that is not UTF-8
		b, _ = json.Marshal(&failure{Error: fmt.Sprintf("%q", f.Error), Kinds: f.Kinds})
	}
	return b
}

// Error is an answer that is not 200. It wraps the errors that its kinds name.
type Error struct {
	Status int // of HTTP
	Text   string
	causes []error
}

func (e *Error) Error() string { return e.Text }

// Unwrap gives the errors that the engine's error wraps.
func (e *Error) Unwrap() []error { return e.causes }

// errorOf is the error that an answer is.
func errorOf(status int, body []byte) error {
	var f failure
	if err := json.Unmarshal(body, &f); err != nil || f.Error == "" {
		return &Error{Status: status, Text: fmt.Sprintf("the server answered %d: %.200q", status, body)}
	}
	e := &Error{Status: status, Text: f.Error}
	for _, name := range f.Kinds {
		for _, k := range kinds {
			if k.name == name {
				e.causes = append(e.causes, k.err)
			}
		}
	}
	return e
}

package wire

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"

	"tpccbench/tpcc"
)

// prefix begins all paths.
const prefix = "/v1/"

// Paths of requests that are no transaction.
const (
	sessionPath = prefix + "session"
	statusPath  = prefix + "status"
)

// typePaths finds a transaction by its path.
var typePaths = func() map[string]tpcc.Type {
	m := map[string]tpcc.Type{}
	for _, t := range tpcc.Types {
		m[prefix+t.String()] = t
	}
	return m
}()

const jsonType = "application/json"

// Values of headers, which net/http does not change.
var (
	jsonTypeValue = []string{jsonType}
	closeValue    = []string{"close"}
)

// ServeHTTP answers one request of a connection that Serve has accepted.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(connKey{}).(*conn)
	t, isTransaction := typePaths[r.URL.Path]
	switch {
	case isTransaction:
		if c.request(w, r) {
			c.transaction(w, t)
		}
	case r.URL.Path == sessionPath:
		if c.request(w, r) {
			c.begin(w)
		}
	case r.URL.Path == statusPath:
		if method(w, r, http.MethodGet) {
			s.status(w)
		}
	default:
		refuse(w, http.StatusNotFound, fmt.Sprintf("there is no path %.100q; a transaction is a POST to one such as %s%s", r.URL.Path, prefix, tpcc.TxNewOrder))
	}
}

// transaction runs the transaction of which the input is in c.body.
func (c *conn) transaction(w http.ResponseWriter, t tpcc.Type) {
	c.in.Type = t
	if err := readInput(&c.decoder, c.body, &c.in); err != nil {
		refuse(w, http.StatusBadRequest, "the input of "+t.String()+": "+err.Error())
		return
	}
	if err := c.openSession(); err != nil {
		refuseSession(w, err)
		return
	}
	if err := c.call(); err != nil {
		var panicked *panicError
		if errors.As(err, &panicked) {
			w.Header()["Connection"] = closeValue // and the session with it
		}
		fail(w, err)
		return
	}
	c.answer = writeOutput(c.answer[:0], t, &c.out)
	send(w, http.StatusOK, c.answer)
}

var emptyObject = []byte("{}")

// begin opens the session.
func (c *conn) begin(w http.ResponseWriter) {
	if err := decode(&c.decoder, object[struct{}]{}, c.body, new(struct{})); err != nil {
		refuse(w, http.StatusBadRequest, "the body of a request for a session is {}: "+err.Error())
		return
	}
	if err := c.openSession(); err != nil {
		refuseSession(w, err)
		return
	}
	send(w, http.StatusOK, emptyObject)
}

func (s *Server) status(w http.ResponseWriter) {
	st, err := statusOf(s.engine)
	if err != nil {
		fail(w, err)
		return
	}
	body, err := st.body()
	if err != nil {
		fail(w, err)
		return
	}
	send(w, http.StatusOK, body)
}

// request checks a POST and reads its body into c.body. If it is none, it has been refused.
func (c *conn) request(w http.ResponseWriter, r *http.Request) bool {
	if !method(w, r, http.MethodPost) {
		return false
	}
	if !isJSON(r.Header) {
		refuse(w, http.StatusUnsupportedMediaType, fmt.Sprintf("the content is said to be %.100q; it must be %s, in no encoding", r.Header.Get("Content-Type"), jsonType))
		return false
	}
	// net/http reads the rest of a body that is too long, or, if that is much, closes the connection, slowly enough for
	// the answer to arrive.
	if r.ContentLength > MaxBody {
		refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has %d bytes; it must have at most %d", r.ContentLength, MaxBody))
		return false
	}
	if c.body == nil {
		c.body = make([]byte, 0, MaxBody+1)
	}
	c.body = c.body[:0]
	for len(c.body) <= MaxBody {
		n, err := r.Body.Read(c.body[len(c.body):cap(c.body)])
		c.body = c.body[:len(c.body)+n]
		switch {
		case err == io.EOF && len(c.body) <= MaxBody:
			return true
		case err == nil || err == io.EOF:
			continue
		}
		w.Header()["Connection"] = closeValue
		if errors.Is(err, os.ErrDeadlineExceeded) {
			refuse(w, http.StatusRequestTimeout, fmt.Sprintf("the body did not come within %v", c.server.limits.Body))
		} else {
			refuse(w, http.StatusBadRequest, fmt.Sprintf("the body ends after %d bytes: %v", len(c.body), err))
		}
		return false
	}
	refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is too long; it must have at most %d bytes", MaxBody))
	return false
}

// method refuses a request that has another method.
func method(w http.ResponseWriter, r *http.Request, want string) bool {
	if r.Method == want {
		return true
	}
	w.Header().Set("Allow", want)
	refuse(w, http.StatusMethodNotAllowed, fmt.Sprintf("the method is %.40q; %s wants %s", r.Method, r.URL.Path, want))
	return false
}

// isJSON reports whether the header says that the body is JSON as it is.
func isJSON(h http.Header) bool {
	if e := h["Content-Encoding"]; len(e) > 0 {
		return false
	}
	t := h["Content-Type"]
	if len(t) != 1 {
		return false
	}
	if t[0] == jsonType {
		return true
	}
	media, params, err := mime.ParseMediaType(t[0])
	charset, given := params["charset"]
	return err == nil && media == jsonType && (!given || strings.EqualFold(charset, "utf-8"))
}

// refuse answers a request that was not carried out.
func refuse(w http.ResponseWriter, status int, text string) {
	f := failure{Error: text}
	send(w, status, f.body())
}

// refuseSession answers that the engine gives no session.
func refuseSession(w http.ResponseWriter, err error) {
	_, f := failureOf(err)
	send(w, http.StatusServiceUnavailable, f.body())
}

// fail answers a request that the engine failed with err.
func fail(w http.ResponseWriter, err error) {
	status, f := failureOf(err)
	send(w, status, f.body())
}

// countedByHTTP is how long an answer may be for net/http to count it by itself.
const countedByHTTP = 2000

func send(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = jsonTypeValue
	if len(body) > countedByHTTP {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	if status != http.StatusOK {
		w.WriteHeader(status)
	}
	_, _ = w.Write(body) // a client that is gone has its answer in no other way
}

package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"tpccbench/engines"
)

// dialTime is how long a connection may take to be made.
const dialTime = 10 * time.Second

// maxAnswer bounds the body of an answer, bytes: more is no answer of a Server.
const maxAnswer = 1 << 20

// errBroken: the connection was lost earlier, or the server has closed it after an answer. For its terminal that is the end.
var errBroken = fmt.Errorf("%w: the connection to the server is closed", engines.ErrFailed)

// link is the client's end of one connection that is kept alive: HTTP/1.1, one request at a time, as far as a Server
// speaks it. It allocates nothing per request. After an error of exchange it is broken.
type link struct {
	conn    net.Conn
	reader  *bufio.Reader
	request []byte
	answer  []byte
	broken  bool
}

func dial(address string) (*link, error) {
	c, err := net.DialTimeout("tcp", address, dialTime)
	if err != nil {
		return nil, fmt.Errorf("no connection to the server: %w", err)
	}
	return &link{conn: c, reader: bufio.NewReader(c)}, nil
}

// head is what a request begins with, up to the value of Content-Length.
func head(method, path, host string) []byte {
	return []byte(method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: " + jsonType + "\r\nContent-Length: ")
}

// exchange sends a request and reads its answer, of which the body is valid until the next exchange.
func (l *link) exchange(head, body []byte) (status int, answer []byte, err error) {
	if l.broken {
		return 0, nil, errBroken
	}
	l.broken = true // unless all goes well
	b := append(l.request[:0], head...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	b = append(b, body...)
	l.request = b
	if _, err := l.conn.Write(b); err != nil {
		return 0, nil, fmt.Errorf("the request could not be sent: %w", err)
	}
	status, length, last, err := l.header()
	if err != nil {
		return 0, nil, fmt.Errorf("there is no whole answer: %w", err)
	}
	if cap(l.answer) < length {
		l.answer = make([]byte, max(length, MaxBody))
	}
	l.answer = l.answer[:length]
	if _, err := io.ReadFull(l.reader, l.answer); err != nil {
		return 0, nil, fmt.Errorf("there is no whole answer: %w", err)
	}
	l.broken = last
	return status, l.answer, nil
}

// header reads an answer up to its body. last: the server closes the connection after it.
func (l *link) header() (status, length int, last bool, err error) {
	line, err := l.line()
	if err != nil {
		return 0, 0, false, err
	}
	if status, err = statusOfLine(line); err != nil {
		return 0, 0, false, err
	}
	length = -1
	for {
		if line, err = l.line(); err != nil {
			return 0, 0, false, err
		}
		if len(line) == 0 {
			break
		}
		name, value, ok := bytes.Cut(line, []byte{':'})
		value = bytes.TrimSpace(value)
		switch {
		case !ok:
			return 0, 0, false, fmt.Errorf("%.60q is no line of a header", line)
		case bytes.EqualFold(name, contentLengthName):
			n, ok := whole(value)
			if !ok || n < 0 || n > maxAnswer {
				return 0, 0, false, fmt.Errorf("the length of the answer is %.20q; it must be 0..%d", value, maxAnswer)
			}
			length = int(n)
		case bytes.EqualFold(name, connectionName):
			last = bytes.EqualFold(value, closeName)
		}
	}
	if length < 0 {
		return 0, 0, false, fmt.Errorf("the answer, %d, does not say its length", status)
	}
	return status, length, last, nil
}

var (
	contentLengthName = []byte("content-length")
	connectionName    = []byte("connection")
	closeName         = []byte("close")
	protocol          = []byte("HTTP/1.1 ")
)

// line reads a line of a header without its end. It is valid until the next one is read.
func (l *link) line() ([]byte, error) {
	line, err := l.reader.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

// statusOfLine is the number in a line such as HTTP/1.1 200 OK.
func statusOfLine(line []byte) (int, error) {
	rest, ok := bytes.CutPrefix(line, protocol)
	if ok && len(rest) >= 3 {
		if n, ok := whole(rest[:3]); ok && n >= 100 && (len(rest) == 3 || rest[3] == ' ') {
			return int(n), nil
		}
	}
	return 0, fmt.Errorf("%.60q is no answer of HTTP/1.1", line)
}

func (l *link) close() error { return l.conn.Close() }

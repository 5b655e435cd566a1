package wire

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// ErrNotServed: a served engine is neither loaded nor read as a whole over the wire; whoever has the store does that.
var ErrNotServed = errors.New("not served over HTTP")

// Client is a served engine. Each of its sessions is a connection of its own; there is one more for Facts.
type Client struct {
	address string
	heads   [tpcc.NumTypes][]byte // by tpcc.Type

	mu      sync.Mutex // of control
	control *link
}

var _ engines.Engine = (*Client)(nil)

// NewClient connects to the server at the address HOST:PORT and asks for its status, so that a wrong one shows at once.
func NewClient(address string) (*Client, error) {
	control, err := dial(address)
	if err != nil {
		return nil, err
	}
	c := &Client{address: address, control: control}
	for _, t := range tpcc.Types {
		c.heads[t] = head(http.MethodPost, prefix+t.String(), address)
	}
	if _, err := c.Status(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s does not answer as a server of an engine does: %w", address, err), control.close())
	}
	return c, nil
}

// Load is not served.
func (c *Client) Load(iter.Seq[*tpcc.Row]) error { return fmt.Errorf("load: %w", ErrNotServed) }

// Snapshot is not served.
func (c *Client) Snapshot(func(*tpcc.Row) error) error {
	return fmt.Errorf("snapshot: %w", ErrNotServed)
}

// Status asks the server for its status.
func (c *Client) Status() (*Status, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	status, body, err := c.control.exchange(head(http.MethodGet, statusPath, c.address), nil)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, errorOf(status, body)
	}
	return parseStatus(body)
}

// Facts is that of the served engine.
func (c *Client) Facts() (engines.Facts, error) {
	s, err := c.Status()
	if err != nil {
		return engines.Facts{}, fmt.Errorf("facts: %w", err)
	}
	return s.Facts, nil
}

// NewSession connects, and opens the engine's session at the other end.
func (c *Client) NewSession() (engines.Session, error) {
	l, err := dial(c.address)
	if err != nil {
		return nil, err
	}
	status, body, err := l.exchange(head(http.MethodPost, sessionPath, c.address), emptyObject)
	if err == nil && status != http.StatusOK {
		err = errorOf(status, body)
	}
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return &session{client: c, link: l}, nil
}

// Close ends the connection for Facts. The server goes on.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.control.close()
}

// session is one terminal's connection.
type session struct {
	client  *Client
	link    *link
	decoder decoder
	body    []byte
}

// perform sends the transaction and reads its output.
func perform[I, O any](s *session, t tpcc.Type, input object[I], in *I, output object[O], out *O) error {
	s.body = input.write(s.body[:0], in)
	status, answer, err := s.link.exchange(s.client.heads[t], s.body)
	switch {
	case err == errBroken:
		return err
	case err != nil:
		return fmt.Errorf("%s: %w: %w", t, engines.ErrIndeterminate, err)
	case status != http.StatusOK:
		return errorOf(status, answer)
	}
	if err := decode(&s.decoder, output, answer, out); err != nil {
		s.link.broken = true
		return fmt.Errorf("%s: %w: the server's answer: %w", t, engines.ErrIndeterminate, err)
	}
	return nil
}

func (s *session) NewOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	return perform(s, tpcc.TxNewOrder, newOrderInput, in, newOrderOutput, out)
}

func (s *session) Payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	return perform(s, tpcc.TxPayment, paymentInput, in, paymentOutput, out)
}

func (s *session) OrderStatus(in *tpcc.OrderStatusInput, out *tpcc.OrderStatusOutput) error {
	return perform(s, tpcc.TxOrderStatus, orderStatusInput, in, orderStatusOutput, out)
}

func (s *session) Delivery(in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	return perform(s, tpcc.TxDelivery, deliveryInput, in, deliveryOutput, out)
}

func (s *session) StockLevel(in *tpcc.StockLevelInput, out *tpcc.StockLevelOutput) error {
	return perform(s, tpcc.TxStockLevel, stockLevelInput, in, stockLevelOutput, out)
}

// Close ends the connection. The server closes the engine's session when it sees that.
func (s *session) Close() error { return s.link.close() }

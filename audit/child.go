package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"tpccbench/engines"
	"tpccbench/tpcc"
	"tpccbench/tpcc/consistency"
)

// spec is one life, as the child reads it from its standard input.
type spec struct {
	Engine    string            `json:"engine"`
	Settings  map[string]string `json:"settings"`
	Dir       string            `json:"dir"`
	Scale     tpcc.Scale        `json:"scale"`
	Weights   tpcc.Weights      `json:"weights"`
	Seed      uint64            `json:"seed"`
	Terminals int               `json:"terminals"`
	Life      int               `json:"life"`
}

// ready is what the child says on its standard output when the store is open.
const ready = "ready\n"

// Acks is the pipe to the parent in a child that Run has started: file descriptor 3.
func Acks() *os.File { return os.NewFile(3, "acknowledgements") }

// Child is a life: it reads what it is to do from stdin, opens the store with one of the factories, says on stdout that
// it is ready, and runs transactions until it is killed. It returns on an error only, or when stdin ends because the
// parent is no more. Several goroutines write to acks, a record at a time.
func Child(factories []engines.Factory, stdin io.Reader, stdout, acks io.Writer) error {
	decoder := json.NewDecoder(stdin)
	var s spec
	if err := decoder.Decode(&s); err != nil {
		return fmt.Errorf("audit: read what to do: %w", err)
	}
	i := slices.IndexFunc(factories, func(f engines.Factory) bool { return f.Name == s.Engine })
	if i < 0 {
		return fmt.Errorf("audit: the child has no engine %q", s.Engine)
	}
	e, err := factories[i].Open(s.Dir, engines.Options{Settings: s.Settings})
	if err != nil {
		return fmt.Errorf("audit: open %s: %w", s.Dir, err)
	}
	// From here on the store stays open whatever happens: a life has no orderly end.
	sessions := make([]engines.Session, s.Terminals)
	for i := range sessions {
		if sessions[i], err = e.NewSession(); err != nil {
			return fmt.Errorf("audit: session %d of %d: %w", i+1, s.Terminals, err)
		}
	}
	if _, err := io.WriteString(stdout, ready); err != nil {
		return fmt.Errorf("audit: tell the parent: %w", err)
	}
	failed := make(chan error, s.Terminals+1)
	for i, session := range sessions {
		go func() { failed <- fmt.Errorf("audit: terminal %d: %w", i, s.run(i, session, acks)) }()
	}
	go func() {
		_, err := io.Copy(io.Discard, io.MultiReader(decoder.Buffered(), stdin))
		failed <- errors.Join(errors.New("audit: the parent has gone"), err)
	}()
	return <-failed
}

// A terminal's stream must not come again in another life, nor its dates: a life has terminals of its own, whose home
// warehouses and districts are those of the others, and each life is a day.
const msPerLife = 24 * 60 * 60 * 1000

func (s *spec) terminal(number int) *tpcc.Terminal {
	homes := s.Scale.Warehouses * tpcc.Districts
	perLife := (s.Terminals + homes - 1) / homes * homes
	return tpcc.NewTerminal(s.Seed, s.Life*perLife+number, s.Scale, s.Weights)
}

// run is one terminal. It returns the error that ends it.
func (s *spec) run(number int, session engines.Session, acks io.Writer) error {
	var (
		terminal = s.terminal(number)
		day      = int64(s.Life) * msPerLife
		in       tpcc.Input
		out      tpcc.Output
		record   []byte
	)
	for {
		terminal.Next(&in)
		switch in.Type {
		case tpcc.TxNewOrder:
			in.NewOrder.EntryD += day
		case tpcc.TxPayment:
			in.Payment.Date += day
		case tpcc.TxDelivery:
			in.Delivery.DeliveryD += day
		}
		if err := engines.Call(session, &in, &out); err != nil {
			return fmt.Errorf("%s: %w", in.Type, err)
		}
		record = record[:0]
		switch in.Type {
		case tpcc.TxNewOrder:
			record = consistency.AppendNewOrderAck(record, &in.NewOrder, &out.NewOrder)
		case tpcc.TxPayment:
			record = consistency.AppendPaymentAck(record, &in.Payment, &out.Payment)
		case tpcc.TxDelivery:
			record = consistency.AppendDeliveryAck(record, &in.Delivery, &out.Delivery)
		}
		if len(record) > 0 {
			if _, err := acks.Write(record); err != nil {
				return fmt.Errorf("acknowledge: %w", err)
			}
		}
	}
}

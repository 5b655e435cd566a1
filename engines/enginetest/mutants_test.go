package enginetest

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tpccbench/engines"
	"tpccbench/engines/enginetest/model"
	"tpccbench/tpcc"
)

// mutant is the model's engine with one fault. What it does not override is right.
type mutant struct {
	name     string
	caughtBy []string
	fault    fault
}

// fault overrides parts of an engine; each part is nil where it is right.
type fault struct {
	open     func(t *testing.T, dir string, opt engines.Options) (engines.Engine, error)
	load     func(e *faulty, rows iter.Seq[*tpcc.Row]) error
	snapshot func(e *faulty, visit func(*tpcc.Row) error) error
	row      func(e *faulty, r *tpcc.Row) (keep bool) // changes what a snapshot shows
	call     func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error
	facts    func(*engines.Facts)
	close    func(e *faulty) error
}

func (m *mutant) factory(t *testing.T) engines.Factory {
	f := model.Factory
	f.Name = m.name
	f.Open = func(dir string, opt engines.Options) (engines.Engine, error) {
		open := model.Factory.Open
		if m.fault.open != nil {
			open = func(dir string, opt engines.Options) (engines.Engine, error) { return m.fault.open(t, dir, opt) }
		}
		e, err := open(dir, opt)
		if err != nil {
			return nil, err
		}
		return &faulty{Engine: e, fault: &m.fault, dir: dir, stale: model.New(), extra: map[[2]int32]int64{}}, nil
	}
	return f
}

// faulty is an engine with a fault, and what the faults need to remember.
type faulty struct {
	engines.Engine
	*fault
	dir      string
	inFlight atomic.Int32
	visiting sync.RWMutex

	mu      sync.Mutex
	rows    []tpcc.Row         // as loaded
	pending []func()           // not yet applied to stale
	stale   *model.Store       // one write behind
	extra   map[[2]int32]int64 // by supplying warehouse and item
}

func (e *faulty) Load(rows iter.Seq[*tpcc.Row]) error {
	if e.load != nil {
		return e.load(e, rows)
	}
	for r := range rows {
		e.rows = append(e.rows, *r)
	}
	return errors.Join(e.Engine.Load(all(e.rows)), e.stale.Load(all(e.rows)))
}

func (e *faulty) Snapshot(visit func(*tpcc.Row) error) error {
	if e.snapshot != nil {
		return e.snapshot(e, visit)
	}
	return e.Engine.Snapshot(func(r *tpcc.Row) error {
		if e.row != nil && !e.row(e, r) {
			return nil
		}
		return visit(r)
	})
}

func (e *faulty) Facts() (engines.Facts, error) {
	f, err := e.Engine.Facts()
	if e.facts != nil {
		e.facts(&f)
	}
	return f, err
}

func (e *faulty) Close() error {
	if e.close != nil {
		return e.close(e)
	}
	return e.Engine.Close()
}

func (e *faulty) NewSession() (engines.Session, error) {
	s, err := e.Engine.NewSession()
	return &faultySession{s, e}, err
}

type faultySession struct {
	engines.Session
	e *faulty
}

func (s *faultySession) run(in *tpcc.Input, out *tpcc.Output) error {
	if s.e.call != nil {
		return s.e.call(s, in, out)
	}
	return s.right(in, out)
}

// right runs the transaction as it should be.
func (s *faultySession) right(in *tpcc.Input, out *tpcc.Output) error {
	return engines.Call(s.Session, in, out)
}

func (s *faultySession) NewOrder(in *tpcc.NewOrderInput, out *tpcc.NewOrderOutput) error {
	i, o := tpcc.Input{Type: tpcc.TxNewOrder, NewOrder: *in}, tpcc.Output{NewOrder: *out}
	err := s.run(&i, &o)
	*in, *out = i.NewOrder, o.NewOrder
	return err
}

func (s *faultySession) Payment(in *tpcc.PaymentInput, out *tpcc.PaymentOutput) error {
	i, o := tpcc.Input{Type: tpcc.TxPayment, Payment: *in}, tpcc.Output{Payment: *out}
	err := s.run(&i, &o)
	*in, *out = i.Payment, o.Payment
	return err
}

func (s *faultySession) OrderStatus(in *tpcc.OrderStatusInput, out *tpcc.OrderStatusOutput) error {
	i, o := tpcc.Input{Type: tpcc.TxOrderStatus, OrderStatus: *in}, tpcc.Output{OrderStatus: *out}
	err := s.run(&i, &o)
	*in, *out = i.OrderStatus, o.OrderStatus
	return err
}

func (s *faultySession) Delivery(in *tpcc.DeliveryInput, out *tpcc.DeliveryOutput) error {
	i, o := tpcc.Input{Type: tpcc.TxDelivery, Delivery: *in}, tpcc.Output{Delivery: *out}
	err := s.run(&i, &o)
	*in, *out = i.Delivery, o.Delivery
	return err
}

func (s *faultySession) StockLevel(in *tpcc.StockLevelInput, out *tpcc.StockLevelOutput) error {
	i, o := tpcc.Input{Type: tpcc.TxStockLevel, StockLevel: *in}, tpcc.Output{StockLevel: *out}
	err := s.run(&i, &o)
	*in, *out = i.StockLevel, o.StockLevel
	return err
}

// loadedOrders is the number of orders of a district that the population has; those after it are the transactions'.
var loadedOrders = int64(smallScale(1).Orders)

var mutants = []mutant{
	{"drops_an_order_line", []string{"serial", "concurrent", "snapshot_beside_writers", "reopen"}, fault{
		row: func(_ *faulty, r *tpcc.Row) bool {
			return !(r.Table == tpcc.OrderLine && r.Col[tpcc.OLOID] > loadedOrders && r.Col[tpcc.OLNumber] == 12)
		}}},
	{"forgets_s_remote_cnt", []string{"serial", "concurrent"}, fault{
		row: func(_ *faulty, r *tpcc.Row) bool {
			if r.Table == tpcc.Stock {
				r.Col[tpcc.SRemoteCnt] = 0
			}
			return true
		}}},
	{"loses_a_loaded_row", []string{"load", "odd_path"}, fault{
		row: func(_ *faulty, r *tpcc.Row) bool {
			return !(r.Table == tpcc.Stock && r.Col[tpcc.SIID] == int64(smallScale(1).Items))
		}}},
	{"snapshot_out_of_order", []string{"load"}, fault{
		snapshot: func(e *faulty, visit func(*tpcc.Row) error) error {
			rows, err := rowsOf(e.Engine)
			if len(rows) > 1 {
				rows[0], rows[1] = rows[1], rows[0]
			}
			for i := range rows {
				err = errors.Join(err, visit(&rows[i]))
			}
			return err
		}}},
	{"loads_twice", []string{"load"}, fault{
		load: func(e *faulty, rows iter.Seq[*tpcc.Row]) error {
			if err := e.Engine.Load(rows); !errors.Is(err, engines.ErrNotEmpty) {
				return err
			}
			return nil
		}}},
	{"delivers_in_nine_districts", []string{"serial", "concurrent"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			err := s.right(in, out)
			out.Delivery.OID[9] = 0
			return err
		}}},
	{"rollback_leaves_a_stock_change", []string{"serial", "rollback", "concurrent"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			err := s.right(in, out)
			if in.Type == tpcc.TxNewOrder && out.NewOrder.RolledBack {
				s.e.mu.Lock()
				s.e.extra[[2]int32{in.NewOrder.Lines[0].SupplyWID, in.NewOrder.Lines[0].IID}]++
				s.e.mu.Unlock()
			}
			return err
		},
		row: func(e *faulty, r *tpcc.Row) bool {
			if r.Table == tpcc.Stock {
				e.mu.Lock()
				r.Col[tpcc.SOrderCnt] += e.extra[[2]int32{int32(r.Col[tpcc.SWID]), int32(r.Col[tpcc.SIID])}]
				e.mu.Unlock()
			}
			return true
		}}},
	{"rollback_takes_an_order_number", []string{"serial", "rollback", "concurrent"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			err := s.right(in, out)
			if err == nil && in.Type == tpcc.TxNewOrder && out.NewOrder.RolledBack {
				valid, ignored := *in, tpcc.Output{}
				valid.NewOrder.Lines[valid.NewOrder.Count-1].IID = 1
				err = s.right(&valid, &ignored)
			}
			return err
		}}},
	{"last_name_off_by_one", []string{"serial"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			if in.Type != tpcc.TxPayment || !in.Payment.ByName {
				return s.right(in, out)
			}
			named := []int32{}
			for _, r := range s.e.rows {
				if r.Table == tpcc.Customer && r.Col[tpcc.CWID] == int64(in.Payment.CWID) && r.Col[tpcc.CDID] == int64(in.Payment.CDID) &&
					r.Col[tpcc.CLast] == int64(in.Payment.CLast) {
					named = append(named, int32(r.Col[tpcc.CID]))
				}
			}
			byID := *in
			byID.Payment.ByName, byID.Payment.CID = false, named[len(named)/2] // right for odd numbers only
			return s.right(&byID, out)
		}}},
	{"stale_reads", []string{"serial", "own_writes", "reads_of_one_point"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			e := s.e
			e.mu.Lock()
			defer e.mu.Unlock()
			if in.Type.ReadOnly() {
				return engines.Call(e.stale, in, out)
			}
			for _, apply := range e.pending {
				apply()
			}
			again := *in
			e.pending = []func(){func() { _ = engines.Call(e.stale, &again, &tpcc.Output{}) }}
			return s.right(in, out)
		}}},
	{"torn_reads", []string{"own_writes", "serial", "concurrent"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			err := s.right(in, out)
			if in.Type == tpcc.TxOrderStatus && out.OrderStatus.OID%3 == 0 && out.OrderStatus.Count > 0 {
				out.OrderStatus.Lines[out.OrderStatus.Count-1] = tpcc.OrderStatusLine{}
			}
			return err
		}}},
	{"a_commit_point_per_statement", []string{"reads_of_one_point"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			if in.Type != tpcc.TxOrderStatus {
				return s.right(in, out)
			}
			err := s.right(in, out)
			balance := out.OrderStatus.CBalance
			time.Sleep(100 * time.Microsecond)
			err = errors.Join(err, s.right(in, out))
			out.OrderStatus.CBalance = balance
			return err
		}}},
	{"leaves_old_lines_in_the_output", []string{"serial"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			old := out.NewOrder.Lines
			err := s.right(in, out)
			if in.Type == tpcc.TxNewOrder {
				copy(out.NewOrder.Lines[in.NewOrder.Count:], old[in.NewOrder.Count:])
			}
			return err
		}}},
	{"changes_its_input", []string{"serial"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			err := s.right(in, out)
			in.Payment.CID = out.Payment.CID
			return err
		}}},
	{"own_clock", []string{"serial"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			late := *in
			late.NewOrder.EntryD++
			return s.right(&late, out)
		}}},
	{"loses_the_last_transaction_at_close", []string{"reopen", "load", "locked"}, fault{close: loseLast}},
	{"durable_only_at_close", []string{"copied_while_open"}, fault{
		open: func(t *testing.T, dir string, opt engines.Options) (engines.Engine, error) {
			private := filepath.Join(t.TempDir(), "private")
			if err := os.CopyFS(private, os.DirFS(dir)); err != nil {
				return nil, err
			}
			e, err := model.Factory.Open(private, opt)
			return &elsewhere{e, private, dir}, err
		}}},
	{"acknowledges_without_doing_when_busy", []string{"concurrent"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			defer s.e.inFlight.Add(-1)
			if s.e.inFlight.Add(1) > 1 && in.Type == tpcc.TxPayment {
				return nil
			}
			return s.right(in, out)
		}}},
	{"a_snapshot_per_table", []string{"snapshot_of_one_point", "snapshot_beside_writers"}, fault{
		snapshot: func(e *faulty, visit func(*tpcc.Row) error) error {
			for _, t := range tpcc.Tables {
				err := e.Engine.Snapshot(func(r *tpcc.Row) error {
					if r.Table == t {
						return visit(r)
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		}}},
	{"transactions_wait_for_snapshots", []string{"snapshot_of_one_point"}, fault{
		snapshot: func(e *faulty, visit func(*tpcc.Row) error) error {
			e.visiting.Lock()
			defer e.visiting.Unlock()
			return e.Engine.Snapshot(visit)
		},
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			s.e.visiting.RLock()
			defer s.e.visiting.RUnlock()
			return s.right(in, out)
		}}},
	{"snapshot_wraps_the_error", []string{"snapshot_error"}, fault{
		snapshot: func(e *faulty, visit func(*tpcc.Row) error) error {
			if err := e.Engine.Snapshot(visit); err != nil {
				return fmt.Errorf("visit: %w", err)
			}
			return nil
		}}},
	{"takes_any_customer", []string{"wrong_input"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			if err := s.right(in, out); !errors.Is(err, model.ErrUnknown) {
				return err
			}
			return nil
		}}},
	{"half_a_transaction_on_an_error", []string{"wrong_input"}, fault{
		call: func(s *faultySession, in *tpcc.Input, out *tpcc.Output) error {
			err := s.right(in, out)
			if err != nil && in.Type == tpcc.TxPayment && in.Payment.WID == 1 && in.Payment.DID == 1 {
				half := *in
				half.Payment.ByName, half.Payment.CWID, half.Payment.CDID, half.Payment.CID = false, 1, 1, 1
				err = errors.Join(err, s.right(&half, out))
			}
			return err
		}}},
	{"no_lock", []string{"locked"}, fault{
		open: func(t *testing.T, dir string, opt engines.Options) (engines.Engine, error) {
			e, err := model.Factory.Open(dir, opt)
			if errors.Is(err, engines.ErrLocked) {
				return model.Factory.Open(t.TempDir(), opt)
			}
			return e, err
		}}},
	{"takes_any_setting", []string{"settings"}, fault{
		open: func(_ *testing.T, dir string, opt engines.Options) (engines.Engine, error) {
			return model.Factory.Open(dir, engines.Options{})
		}}},
	{"refuses_a_listed_value", []string{"settings"}, fault{
		open: func(_ *testing.T, dir string, opt engines.Options) (engines.Engine, error) {
			if opt.Settings["sync"] == "on" {
				return nil, engines.ErrSetting
			}
			return model.Factory.Open(dir, opt)
		}}},
	{"leaks_a_goroutine", []string{"goroutines"}, fault{
		open: func(t *testing.T, dir string, opt engines.Options) (engines.Engine, error) {
			stop := make(chan struct{})
			t.Cleanup(func() { close(stop) })
			go func() { <-stop }()
			return model.Factory.Open(dir, opt)
		}}},
	{"makes_the_directory", []string{"missing_directory"}, fault{
		open: func(_ *testing.T, dir string, opt engines.Options) (engines.Engine, error) {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return nil, err
			}
			return model.Factory.Open(dir, opt)
		}}},
	{"makes_the_directory_and_complains", []string{"missing_directory"}, fault{
		open: func(_ *testing.T, dir string, opt engines.Options) (engines.Engine, error) {
			return nil, fmt.Errorf("no store in %s: %w", dir, os.MkdirAll(dir, 0o755))
		}}},
	{"goes_elsewhere_when_refused", []string{"read_only_directory", "missing_directory", "file_as_directory"}, fault{
		open: func(t *testing.T, dir string, opt engines.Options) (engines.Engine, error) {
			e, err := model.Factory.Open(dir, opt)
			if err != nil {
				return model.Factory.Open(t.TempDir(), opt)
			}
			return e, nil
		}}},
	{"replaces_a_file_by_a_directory", []string{"file_as_directory"}, fault{
		open: func(_ *testing.T, dir string, opt engines.Options) (engines.Engine, error) {
			if info, err := os.Stat(dir); err == nil && !info.IsDir() {
				if err := errors.Join(os.Remove(dir), os.Mkdir(dir, 0o755)); err != nil {
					return nil, err
				}
			}
			return model.Factory.Open(dir, opt)
		}}},
	{"moves_in_with_foreign_files", []string{"foreign_file"}, fault{
		open: func(_ *testing.T, dir string, opt engines.Options) (engines.Engine, error) {
			inner := filepath.Join(dir, "store")
			if err := os.MkdirAll(inner, 0o755); err != nil {
				return nil, err
			}
			return model.Factory.Open(inner, opt)
		}}},
	{"takes_the_path_for_a_url", []string{"odd_path"}, fault{
		open: func(_ *testing.T, dir string, opt engines.Options) (engines.Engine, error) {
			path, _, _ := strings.Cut(dir, "?")
			if err := os.MkdirAll(path, 0o755); err != nil {
				return nil, err
			}
			return model.Factory.Open(path, opt)
		}}},
	{"starts_anew_when_damaged", []string{"damaged_files"}, fault{
		open: func(_ *testing.T, dir string, opt engines.Options) (engines.Engine, error) {
			e, err := model.Factory.Open(dir, opt)
			if !errors.Is(err, engines.ErrCorrupt) {
				return e, err
			}
			if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
				return nil, err
			}
			return model.Factory.Open(dir, opt)
		}}},
	{"tells_no_version", []string{"facts"}, fault{
		facts: func(f *engines.Facts) { delete(f.Settings, "go_version") }}},
	{"counts_no_commits", []string{"facts"}, fault{
		facts: func(f *engines.Facts) { f.Commits = 0 }}},
	{"checkpoints_without_bytes", []string{"facts"}, fault{
		facts: func(f *engines.Facts) { f.Checkpoints, f.CheckpointBytes, f.CheckpointNS = 1, 0, 5 }}},
	{"checkpoints_in_no_time", []string{"facts"}, fault{
		facts: func(f *engines.Facts) { f.Checkpoints, f.CheckpointBytes, f.CheckpointNS = 1, 5, 0 }}},
	{"tells_half_of_checkpoints", []string{"facts"}, fault{
		facts: func(f *engines.Facts) { f.CheckpointBytes = engines.Unknown }}},
	{"checkpoint_bytes_fall", []string{"facts"}, fault{
		facts: func(f *engines.Facts) { f.CheckpointBytes = 1 << 40 / (1 + f.Commits) }}},
	{"temp_bytes_fall", []string{"facts"}, fault{
		facts: func(f *engines.Facts) { f.TempBytes = 1 << 40 / (1 + f.Commits) }}},
	{"tells_of_no_files", []string{"facts"}, fault{
		facts: func(f *engines.Facts) { f.FileBytes = nil }}},
	{"tells_wrong_sizes", []string{"facts"}, fault{
		facts: func(f *engines.Facts) {
			f.FileBytes = maps.Clone(f.FileBytes)
			for name := range f.FileBytes {
				f.FileBytes[name] += 100
			}
		}}},
}

// loseLast closes the engine and cuts the last byte off its journal, so that the last record is lost.
func loseLast(e *faulty) error {
	if err := e.Engine.Close(); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(e.dir, "*"))
	for _, path := range files {
		info, statErr := os.Stat(path)
		if statErr != nil {
			return statErr
		}
		err = errors.Join(err, os.Truncate(path, max(0, info.Size()-1)))
	}
	return err
}

// elsewhere keeps its files in a private directory until it is closed.
type elsewhere struct {
	engines.Engine
	private, dir string
}

func (e *elsewhere) Close() error {
	return errors.Join(e.Engine.Close(), os.RemoveAll(e.dir), os.CopyFS(e.dir, os.DirFS(e.private)))
}

// all yields pointers to the rows.
func all(rows []tpcc.Row) iter.Seq[*tpcc.Row] {
	return func(yield func(*tpcc.Row) bool) {
		for i := range rows {
			if !yield(&rows[i]) {
				return
			}
		}
	}
}

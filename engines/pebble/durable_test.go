package pebble

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"tpccbench/engines"
	"tpccbench/tpcc"
)

// slow is a file system whose WAL files take their time to sync, and whose syncs can be made to fail.
type slow struct {
	vfs.FS
	delay atomic.Int64 // ns
	fails atomic.Bool
}

var errDevice = errors.New("the device is gone")

func (fs *slow) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	return fs.wrap(name, f), err
}

func (fs *slow) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.ReuseForWrite(oldname, newname, c)
	return fs.wrap(newname, f), err
}

func (fs *slow) wrap(name string, f vfs.File) vfs.File {
	if f == nil || !strings.HasSuffix(name, ".log") {
		return f
	}
	return &slowFile{f, fs}
}

type slowFile struct {
	vfs.File
	fs *slow
}

func (f *slowFile) Sync() error     { return f.sync(f.File.Sync) }
func (f *slowFile) SyncData() error { return f.sync(f.File.SyncData) }

func (f *slowFile) sync(sync func() error) error {
	time.Sleep(time.Duration(f.fs.delay.Load()))
	if f.fs.fails.Load() {
		return errDevice
	}
	return sync()
}

const memDir = "store"

// loaded opens a store in memory on a slow file system, with one warehouse.
func loaded(t *testing.T, settings map[string]string) (*vfs.MemFS, *slow, engines.Engine) {
	t.Helper()
	mem := vfs.NewCrashableMem()
	if err := mem.MkdirAll(memDir, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := mem.OpenDir("/")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(root.Sync(), root.Close()); err != nil { // else the directory is lost in a crash
		t.Fatal(err)
	}
	fs := &slow{FS: mem}
	fs.delay.Store(int64(time.Millisecond))
	e, err := openIn(fs, memDir, engines.Options{Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Load(tpcc.Population(1, tpcc.TestScale(1))); err != nil {
		t.Fatal(err)
	}
	return mem, fs, e
}

// afterCrash opens what was synced, and gives use a session on it.
func afterCrash(mem *vfs.MemFS, settings map[string]string, use func(engines.Session) error) error {
	e, err := openIn(mem.CrashClone(vfs.CrashCloneCfg{}), memDir, engines.Options{Settings: settings})
	if err != nil {
		return err
	}
	s, err := e.NewSession()
	if err == nil {
		err = errors.Join(use(s), s.Close())
	}
	return errors.Join(err, e.Close())
}

// lastOrder is the Order-Status input of a customer of district 1.
func lastOrder(customer int32) *tpcc.OrderStatusInput {
	return &tpcc.OrderStatusInput{WID: 1, DID: 1, CID: customer}
}

// order is a New-Order of a customer of district 1.
func order(customer int32) *tpcc.NewOrderInput {
	in := &tpcc.NewOrderInput{WID: 1, DID: 1, CID: customer, EntryD: 1, Count: 5}
	for i := range in.Lines[:in.Count] {
		in.Lines[i] = tpcc.NewOrderInputLine{IID: int32(i) + 1, SupplyWID: 1, Quantity: 1}
	}
	return in
}

// forms are the two ways of committing.
var forms = []map[string]string{{"concurrency": "warehouse"}, {"concurrency": "writer"}}

// TestAnswersAreDurable proves that nothing is answered before it is durable: an order that New-Order, or a read by
// another session, has answered is in the store that a loss of power at that moment leaves. On this file system a sync
// takes long, and what is not synced is lost.
func TestAnswersAreDurable(t *testing.T) {
	for _, settings := range forms {
		t.Run(settings["concurrency"], func(t *testing.T) {
			mem, _, e := loaded(t, settings)
			var stop atomic.Bool
			var writers sync.WaitGroup
			for customer := range int32(4) {
				writers.Go(func() {
					s, err := e.NewSession()
					if err != nil {
						t.Error(err)
						return
					}
					var out tpcc.NewOrderOutput
					for !stop.Load() {
						if err := s.NewOrder(order(customer+1), &out); err != nil {
							t.Error(err)
							return
						}
					}
					// The last acknowledgement, while the others go on.
					err = afterCrash(mem, settings, func(s engines.Session) error {
						return atLeast(s, customer+1, out.OID)
					})
					if err != nil {
						t.Error("an acknowledged order:", err)
					}
				})
			}
			s, err := e.NewSession()
			if err != nil {
				t.Fatal(err)
			}
			rounds := 60
			if testing.Short() {
				rounds = 5
			}
			seen := int32(0)
			for i := range int32(rounds) {
				customer := i%4 + 1
				var out tpcc.OrderStatusOutput
				if err := s.OrderStatus(lastOrder(customer), &out); err != nil {
					t.Fatal(err)
				}
				seen = max(seen, out.OID)
				err := afterCrash(mem, settings, func(s engines.Session) error { return atLeast(s, customer, out.OID) })
				if err != nil {
					t.Error("an order that a read has shown:", err)
				}
			}
			stop.Store(true)
			writers.Wait()
			if seen <= int32(tpcc.TestScale(1).Orders) {
				t.Errorf("the reads saw no new order (the last was %d)", seen)
			}
			if err := errors.Join(s.Close(), e.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// atLeast wants the customer's last order to be number or a later one.
func atLeast(s engines.Session, customer, number int32) error {
	var out tpcc.OrderStatusOutput
	if err := s.OrderStatus(lastOrder(customer), &out); err != nil {
		return err
	}
	if out.OID < number {
		return errors.New("it is not in the store after a crash")
	}
	return nil
}

// TestCommitsShareSyncs proves that transactions of one warehouse share a sync: there are fewer syncs than commits.
func TestCommitsShareSyncs(t *testing.T) {
	for _, settings := range forms {
		t.Run(settings["concurrency"], func(t *testing.T) {
			_, fs, e := loaded(t, settings)
			fs.delay.Store(int64(20 * time.Millisecond)) // longer than a transaction takes
			before, err := e.Facts()
			if err != nil {
				t.Fatal(err)
			}
			const sessions, each = 8, 25
			var wg sync.WaitGroup
			for customer := range int32(sessions) {
				wg.Go(func() {
					s, err := e.NewSession()
					for range each {
						if err == nil {
							err = s.NewOrder(order(customer+1), new(tpcc.NewOrderOutput))
						}
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			after, err := e.Facts()
			if err != nil {
				t.Fatal(err)
			}
			if n := after.Commits - before.Commits; n <= 0 || n >= sessions*each {
				t.Errorf("%d synced groups for %d transactions", n, sessions*each)
			}
			if after.LogBytes <= before.LogBytes || after.Syncs <= before.Syncs {
				t.Errorf("LogBytes %d -> %d, Syncs %d -> %d", before.LogBytes, after.LogBytes, before.Syncs, after.Syncs)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFailedSync proves that the first failed sync ends the store: the transactions that were in flight are
// indeterminate, later ones and reads are refused, nobody hangs, Close says why, and what was acknowledged is there
// after a reopen.
func TestFailedSync(t *testing.T) {
	for _, settings := range forms {
		t.Run(settings["concurrency"], func(t *testing.T) {
			mem, fs, e := loaded(t, settings)
			const sessions = 8
			acknowledged := make([]int32, sessions)
			started := make(chan struct{}, sessions)
			var wg sync.WaitGroup
			for customer := range int32(sessions) {
				wg.Go(func() {
					s, err := e.NewSession()
					if err != nil {
						t.Error(err)
						return
					}
					var out tpcc.NewOrderOutput
					for n := 0; ; n++ {
						if err := s.NewOrder(order(customer+1), &out); err != nil {
							if !errors.Is(err, engines.ErrFailed) || !strings.Contains(err.Error(), errDevice.Error()) {
								t.Errorf("in flight: %v", err)
							}
							break
						}
						acknowledged[customer] = out.OID
						if n == 2 {
							started <- struct{}{}
						}
					}
					if err := s.NewOrder(order(customer+1), &out); !errors.Is(err, engines.ErrFailed) || errors.Is(err, engines.ErrIndeterminate) {
						t.Errorf("a write after the failure: %v", err)
					}
					if err := s.OrderStatus(lastOrder(customer+1), new(tpcc.OrderStatusOutput)); !errors.Is(err, engines.ErrFailed) {
						t.Errorf("a read after the failure: %v", err)
					}
				})
			}
			for range sessions {
				<-started
			}
			fs.fails.Store(true)
			wg.Wait()
			if err := e.Snapshot(func(*tpcc.Row) error { return nil }); !errors.Is(err, engines.ErrFailed) {
				t.Errorf("a snapshot after the failure: %v", err)
			}
			if err := e.Close(); !errors.Is(err, engines.ErrFailed) {
				t.Errorf("Close: %v", err)
			}
			err := afterCrash(mem, settings, func(s engines.Session) error {
				for customer, number := range acknowledged {
					if err := atLeast(s, int32(customer)+1, number); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFatal proves that what Pebble calls fatal ends the store and not the process.
func TestFatal(t *testing.T) {
	_, _, e := loaded(t, nil)
	logger{e.(*engine).fs}.Fatalf("compaction %d", 7)
	s, err := e.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	err = s.NewOrder(order(1), new(tpcc.NewOrderOutput))
	if !errors.Is(err, engines.ErrFailed) || !strings.Contains(err.Error(), "compaction 7") {
		t.Errorf("after a fatal error: %v", err)
	}
	if err := e.Close(); !errors.Is(err, engines.ErrFailed) {
		t.Errorf("Close: %v", err)
	}
}

// TestOutstanding proves that a waiter waits for the commits that had begun before it, whatever the order in which they
// end, and for no others.
func TestOutstanding(t *testing.T) {
	o := newOutstanding()
	a, b := o.begin(), o.begin()
	waited := make(chan struct{})
	waiting := make(chan struct{})
	go func() {
		close(waiting)
		o.wait()
		close(waited)
	}()
	<-waiting
	o.end(b)
	select {
	case <-waited:
		t.Error("waited for b alone")
	default:
	}
	o.end(a)
	<-waited
	c := o.begin()
	d := o.begin()
	o.end(d)
	o.end(c)
	o.wait() // nothing is running: it returns
	if len(o.open) != 0 {
		t.Errorf("%d tickets are left", len(o.open))
	}
}

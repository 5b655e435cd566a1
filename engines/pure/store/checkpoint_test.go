package store

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tpccbench/engines/pure/store/fs"
)

// oneMiB makes small segments, and no checkpoints by themselves.
var oneMiB = Options{LogSegmentBytes: 1 << 20}

// busy carries out n groups.
func (h *history) busy(t *testing.T, n int) {
	t.Helper()
	for range n {
		if err := h.group(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSegmentsAreRecycled: a store that goes on as before takes its segments from the log that checkpoints make useless,
// and makes no file and writes no zeros any more.
func TestSegmentsAreRecycled(t *testing.T) {
	dir := fs.NewMem()
	made, segments := 0, 0
	dir.OnOp(func(_ int, what string) {
		if strings.HasPrefix(what, "create spare-") {
			made++
		}
		if strings.HasPrefix(what, "rename spare-") {
			segments++
		}
	})
	opt := smallOptions
	opt.CheckpointMinBytes = 1 << 20 // none by itself
	s := mustOpen(t, dir, opt)
	h := newHistory(rand.New(rand.NewPCG(5, 0)), s, newModel())
	for range 20 {
		h.busy(t, 10)
		if err := s.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, s)
	dir.OnOp(nil)
	t.Logf("%d segments, %d of them new files", segments, made)
	// 10 saves of a block or so are 6 segments of 2; the first checkpoints find one more in use than the last left.
	if made > segments/4 {
		t.Errorf("%d of %d segments were new files", made, segments)
	}
	s = mustOpen(t, dir, opt)
	defer mustClose(t, s)
	if err := h.holds(s, h.acknowledged.Load()); err != nil {
		t.Error(err)
	}
}

// TestRunningCheckpoint: what a checkpoint has written shows in Stats while it runs; transactions go on meanwhile, and
// the pinned snapshot becomes the image.
func TestRunningCheckpoint(t *testing.T) {
	mem := fs.NewMem()
	var armed atomic.Bool
	reached, goOn := make(chan struct{}), make(chan struct{})
	dir := slowImages{mem, &armed, reached, goOn}
	s := mustOpen(t, dir, oneMiB)
	h := newHistory(rand.New(rand.NewPCG(6, 0)), s, newModel())
	h.busy(t, 5)
	sequence := s.work.sequence
	armed.Store(true)
	done := make(chan error, 1)
	go func() { done <- s.Checkpoint() }()
	<-reached
	armed.Store(false)
	h.busy(t, 5)
	st := s.Stats()
	if st.Checkpoints != 0 || st.CheckpointBytes == 0 || st.CheckpointTime <= 0 {
		t.Errorf("while a checkpoint runs: %d done, %d bytes, %v", st.Checkpoints, st.CheckpointBytes, st.CheckpointTime)
	}
	close(goOn)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	name := imageName(sequence)
	if got, want := s.Stats(), int64(len(mem.Bytes(name))); got.Checkpoints != 1 || got.CheckpointBytes != want {
		t.Errorf("after it: %d checkpoints, %d bytes; %s has %d", got.Checkpoints, got.CheckpointBytes, name, want)
	}
	mustClose(t, s)
	s = mustOpen(t, mem, oneMiB)
	defer mustClose(t, s)
	if err := h.holds(s, h.acknowledged.Load()); err != nil {
		t.Error(err)
	}
}

// slowImages holds up the first rename of an image while it is armed.
type slowImages struct {
	*fs.Mem
	armed         *atomic.Bool
	reached, goOn chan struct{}
}

func (d slowImages) Rename(from, to string) error {
	if from == imageTemp && d.armed.Load() {
		close(d.reached)
		<-d.goOn
	}
	return d.Mem.Rename(from, to)
}

// TestCheckpointOfFailedStore: once the store has failed nothing is written any more, images included.
func TestCheckpointOfFailedStore(t *testing.T) {
	mem := fs.NewMem()
	broken := errors.New("broken")
	var failing atomic.Bool
	dir := fs.NewFault(mem, func(_ int, op fs.Op) error {
		if failing.Load() && op == fs.OpSync {
			return broken
		}
		return nil
	})
	s := mustOpen(t, dir, oneMiB)
	h := newHistory(rand.New(rand.NewPCG(7, 0)), s, newModel())
	h.busy(t, 3)
	failing.Store(true)
	if err := h.group(); !errors.Is(err, ErrIndeterminate) || !errors.Is(err, broken) {
		t.Fatalf("the failed save: %v", err)
	}
	failing.Store(false)
	writes := 0
	mem.OnOp(func(int, string) { writes++ })
	if err := s.Checkpoint(); !errors.Is(err, ErrFailed) {
		t.Errorf("checkpoint: %v", err)
	}
	mustClose(t, s)
	if writes > 0 {
		t.Errorf("%d changes of files after the failure", writes)
	}
}

// TestPace: ahead of the log a checkpoint rests, behind it and at the store's end it does not.
func TestPace(t *testing.T) {
	s := filled(t, fs.NewMem())
	p := s.newPacer(s.current.Load())
	if p.image < 1<<20 {
		t.Fatalf("image of %d bytes is estimated", p.image)
	}
	image := p.s.checkpoints.imageBytes.Load()
	if d := float64(p.image) / float64(image); d < 0.9 || d > 1.1 {
		t.Errorf("estimated are %d bytes, the image has %d", p.image, image)
	}
	if p.behind() {
		t.Error("behind before anything is logged")
	}
	p.written = p.image / 2
	s.stats.logFileBytes.add(p.logBudget / 4)
	if p.behind() {
		t.Error("behind with half of the image written and a quarter of the log")
	}
	s.stats.logFileBytes.add(p.logBudget / 2)
	if !p.behind() {
		t.Error("not behind with half of the image written and three quarters of the log")
	}
	if budget := s.checkpointLog(); p.logBudget*2 > budget {
		t.Errorf("a checkpoint may last for %d bytes of log; the next begins after %d", p.logBudget, budget)
	}
	mustClose(t, s)
	if p.rest(time.Now().Add(time.Hour)) {
		t.Error("rests though the store is closed")
	}
}

// TestProgress: Open tells how far it is, of the image and the log, to the end.
func TestProgress(t *testing.T) {
	dir := fs.NewMem()
	s := filled(t, dir)
	mustClose(t, s)
	last, total, calls := int64(0), int64(0), 0
	s = mustOpen(t, dir, Options{LogSegmentBytes: oneMiB.LogSegmentBytes, Progress: func(done, all int64) {
		if done <= last || done > all || total != 0 && all != total {
			t.Errorf("%d of %d after %d of %d", done, all, last, total)
		}
		last, total = done, all
		calls++
	}})
	defer mustClose(t, s)
	if size := int64(len(dir.Bytes(imageName(1))) + len(dir.Bytes(logName(1)))); total != size || last < total-progressBytes || calls < 2 {
		t.Errorf("%d calls, the last %d of %d; the files have %d bytes", calls, last, total, size)
	}
}

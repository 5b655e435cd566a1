package store

import (
	"sync"

	"tpccbench/engines/pure/store/fs"
	"tpccbench/engines/pure/store/reclog"
)

// logReader reads the listed segments ahead of the replay, on a goroutine of its own, and checks everything that can
// be checked without the state: headers, checksums, and that the saves follow each other without a gap from one that
// the image holds, or is followed by, to the last that the manifest knows of.
//
// Invariant: there are as many pieces as pieces has room for; each is in used, in pieces, or with one goroutine, and who
// gives it up looks at nothing of it afterwards.
type logReader struct {
	dir    fs.Dir
	schema uint64
	pieces chan *logPiece
	used   chan *logPiece
	stop   chan struct{}
	reader sync.WaitGroup
	data   []byte // the segment
	next   uint64 // sequence behind the last save, 0: there was none yet
}

// logPiece is some saves of one segment that the image does not hold.
type logPiece struct {
	saves   []replayedSave
	payload []byte // of all of them
	// end: the segment ends here. Then last is the sequence of its last save, 0 if it has none, and tail what follows.
	end  bool
	last uint64
	tail reclog.Tail
	err  error // nothing follows
}

type replayedSave struct {
	sequence      uint64
	offset, bytes int64 // in the segment
	from, to      int   // in the piece's payload
}

// logPieceBytes is when a piece is handed over: its payload reaches this size.
const logPieceBytes = 1 << 20

// readLog starts to read the segments of m.
func readLog(dir fs.Dir, schema uint64, m *manifest) *logReader {
	r := &logReader{dir: dir, schema: schema, pieces: make(chan *logPiece, readAhead), used: make(chan *logPiece, readAhead),
		stop: make(chan struct{})}
	for range cap(r.used) {
		r.used <- &logPiece{}
	}
	segments, image := append([]segment(nil), m.segments...), m.imageSequence()
	r.reader.Go(func() {
		for _, s := range segments {
			p, err := r.segment(s, image)
			if p == nil {
				return
			}
			p.end, p.err = true, err
			r.pieces <- p // there is room: see used
			if err != nil {
				return
			}
		}
	})
	return r
}

// take returns the next piece; each segment has one or more.
func (r *logReader) take() *logPiece { return <-r.pieces }

// done gives a piece back.
func (r *logReader) done(p *logPiece) { r.used <- p }

// close ends the reading and waits for that.
func (r *logReader) close() {
	close(r.stop)
	r.reader.Wait()
}

// fresh returns an empty piece, nil if nobody wants one any more.
func (r *logReader) fresh() *logPiece {
	select {
	case p := <-r.used:
		*p = logPiece{saves: p.saves[:0], payload: p.payload[:0]}
		return p
	case <-r.stop:
		return nil
	}
}

// segment hands the pieces of one segment over, but for the last, which it returns; nil if nobody wants it any more.
func (r *logReader) segment(s segment, image uint64) (p *logPiece, err error) {
	if p = r.fresh(); p == nil {
		return nil, nil
	}
	name := logName(s.gen)
	path := r.dir.Path(name)
	if r.data, err = readFile(r.dir, name, r.data); err != nil {
		return p, err
	}
	if err := checkSegment(path, s.gen, r.data, r.schema); err != nil {
		return p, err
	}
	saves := reclog.NewReader(s.gen, r.data)
	at, last := int64(reclog.BlockBytes), uint64(0)
	for {
		save, ok, err := saves.Next(0)
		if err != nil {
			return p, savesDamage(path, err)
		}
		if !ok {
			break
		}
		// Saves count up without a gap, but that an image that was loaded may have taken numbers.
		follows := save.Sequence == r.next || save.Sequence == image+1 && r.next <= image+1 || r.next == 0 && save.Sequence <= image
		if !follows {
			return p, damage(path, at, "save %d stands where save %d belongs", save.Sequence, max(r.next, image+1))
		}
		last, r.next = save.Sequence, save.Sequence+1
		bytes := reclog.SaveBytes(len(save.Payload))
		if save.Sequence > image {
			from := len(p.payload)
			p.payload = append(p.payload, save.Payload...)
			p.saves = append(p.saves, replayedSave{save.Sequence, at, bytes, from, len(p.payload)})
		}
		at += bytes
		if len(p.payload) >= logPieceBytes {
			r.pieces <- p
			if p = r.fresh(); p == nil {
				return nil, nil
			}
		}
	}
	p.last, p.tail = last, saves.Tail()
	if s.last != 0 && last != s.last {
		return p, damage(path, p.tail.Offset, "the saves end with number %d, the manifest says %d", last, s.last)
	}
	return p, nil
}

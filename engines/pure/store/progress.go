package store

// progress tells how far Open or ReadContents is.
type progress struct {
	tell  func(done, total int64)
	total int64
	base  int64 // bytes of the files that are done
	told  int64
}

// progressBytes is how much is done between two calls.
const progressBytes = 1 << 20

func newProgress(tell func(done, total int64)) *progress { return &progress{tell: tell} }

// at says that so many bytes of the current file are done.
func (p *progress) at(bytes int64) {
	if p.tell != nil && p.base+bytes-p.told >= progressBytes {
		p.told = p.base + bytes
		p.tell(p.told, p.total)
	}
}

// passed says that a file of so many bytes is done.
func (p *progress) passed(bytes int64) {
	p.base += bytes
	p.at(0)
}

// Package store is a record-log store: tables of integer rows in memory, changed by one owner goroutine, each change
// durable in a log before anybody is told of it. It knows nothing of what the tables mean.
//
//	s, err := store.Open(dir, schema, store.Options{})
//	ses := s.NewSession()
//	err = ses.Do(func(tx *store.Tx) error {
//		row, ok := tx.Edit(accounts, key)
//		...
//		row.Add(balance, -amount)
//		return nil // commits; an error aborts
//	})
//	r := s.NewReader()
//	view := r.Pin() // the state after the last durable save, for as long as it is pinned
//
// # How it works
//
//	sessions --requests--> owner: apply -> encode -> one write, one fdatasync -> publish -> answer
//	                         |                            |                        |
//	                 copy-on-write tries              log-0000000007           readers pin the
//	                 over packed keys (trie.go)       log-0000000008           published version
//	                 in a pointer-free arena                                       |
//	                                                  image-...42 <---checkpoint---+
//
// A transaction is a function that runs on the owner; it reads and changes the working state. The owner takes all
// requests that wait, applies them, encodes what they changed (record.go), writes that as one save (package reclog)
// and syncs it. Only then it publishes the working state as the current version and answers. So an answer means that
// the changes are durable, and a reader never sees what is not.
//
// The tables are radix tries (trie.go) whose nodes live in an arena (arena.go) without pointers. A change copies the
// nodes that a published version has, once per save; nodes that were replaced are used again when no reader can reach
// them (reclaim.go).
//
// # Files
//
//	lock               flock-ed while the store is open
//	log-GENERATION     log segments, ten digits; format in package reclog, payload in record.go
//	spare-GENERATION   segments to be; their content means nothing
//	image-SEQUENCE     the state after that save, twenty digits; format in image.go
//	image.tmp          an image that is being written
//
// The store's state is that of the newest image, and then of every save of the log with a higher sequence number, in
// order and without a gap. Log segments are read in the order of their generations. A segment may end in an incomplete
// save, which a crash has left: it is cut off, and the log goes on in the next segment, whose first save takes the
// number that the incomplete one would have had. Anything else that is amiss is damage and refused (ErrCorrupt).
//
// # When something fails
//
// A failed write or sync of the log fails the store: the transactions of that save get ErrIndeterminate, all others
// from then on ErrFailed, nothing is written any more, and reading goes on. A failed checkpoint is told in Stats and
// harms nothing.
package store

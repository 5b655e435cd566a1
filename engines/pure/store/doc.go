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
//	lock               flock-ed while the store is open; made first
//	manifest           names the image and the segments that count; format in manifest.go
//	log-GENERATION     log segments, ten digits; format in package reclog, payload in record.go
//	spare-GENERATION   segments to be; their content means nothing
//	image-SEQUENCE     the state after that save, twenty digits; format in image.go
//	*.tmp              a manifest or an image that is being written
//
// The store's state is that of the image that the manifest names (empty if it names none), and then of every save of
// the listed segments with a higher sequence number, in order and without a gap. Segments are read in the order of
// their generations. A segment may end in an incomplete save, which a crash has left: it is cut off, and the log goes
// on in the next segment, whose first save takes the number that the incomplete one would have had. Anything else that
// is amiss is damage and refused (DamageError): nothing is changed, and Dump lists all that is wrong.
//
// A file that the manifest does not name counts for nothing: a crash may leave old images, segments that an image has
// made useless, and new ones that were not listed yet. A file that it names and that is missing is damage. Each step
// makes durable what it relies on before the next one begins:
//
//	first Open       manifest (empty) -> log-1 -> manifest lists it
//	every Open       all read and checked -> segments with new saves synced, directory synced
//	                 -> anything is changed
//	next segment     spare zeroed, header, synced -> renamed to log-N, directory synced -> manifest lists it
//	                 -> first save
//	checkpoint, Load image synced -> renamed, directory synced -> manifest names it, lists the log behind it
//	                 -> old image removed, useless segments renamed to spares
//
// What no file can tell: that all files but the lock are gone (an empty directory is an empty store), that an older
// copy of the whole directory stands there, and that the last saves of the newest segment with saves were turned into
// what a crash before them would have left: blocks that were not written, or a file that was cut short, which is
// opened but told in Recovery.Short. For a sealed segment the last save is known from the next change of the manifest
// on: when half of the segment after it is written, or when the store is opened again.
//
// # When something fails
//
// A failed write or sync of the log fails the store: the transactions of that save get ErrIndeterminate, all others
// from then on ErrFailed, nothing is written any more, and reading goes on. A failed checkpoint is told in Stats and
// harms nothing.
package store

package store

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Text prints c for people.
func (c *Contents) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }
	line("store %s", c.Directory)
	line("lock: free, held by this command while it reads")
	line("formats: manifest and images %d, log segments %d", c.FormatVersion, c.LogVersion)
	switch {
	case c.Schema == "":
		line("schema: unknown, as the manifest cannot be read")
	case c.SchemaKnown:
		line("schema: %s, this program's", c.Schema)
	default:
		line("schema: %s, not this program's: tables have numbers, and records are not counted", c.Schema)
	}
	if len(c.Damage) == 0 {
		line("state: as of save %d", c.Sequence)
	} else {
		line("state: damaged, %s; the store is refused", count(len(c.Damage), "place"))
	}
	line("")
	line("segment\tbytes\tsaves\ttransactions\trecord bytes\tbytes of saves\tfirst save\tlast save\tmanifest's last")
	for _, s := range c.Segments {
		line("%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s", s.Name, s.FileBytes, s.Saves, s.Transactions, s.RecordBytes, s.SaveBytes,
			some(s.FirstSave), some(s.LastSave), some(s.ManifestLast))
	}
	for _, s := range c.Segments {
		if s.FileBytes < s.MadeBytes {
			line("%s is %d bytes shorter than it was made, which no crash does: saves at its end may be missing", s.Name, s.MadeBytes-s.FileBytes)
		}
		if s.IncompleteOffset > 0 {
			line("%s, offset %d: a save that was not written to its end; it is cut off", s.Name, s.IncompleteOffset)
		}
	}
	for _, s := range c.Segments {
		if len(s.Records) > 0 {
			line("")
			line("records of %s\tinserts\tupdates\tdeletes", s.Name)
			for _, r := range s.Records {
				line("  %s\t%d\t%d\t%d", r.Table, r.Inserts, r.Updates, r.Deletes)
			}
		}
	}
	for _, s := range c.Segments {
		if len(s.List) == 0 {
			continue
		}
		line("")
		line("saves of %s\toffset\ttransactions\trecord bytes\trecords (+inserts ~updates -deletes)", s.Name)
		for _, v := range s.List {
			line("  %d\t%d\t%d\t%d\t%s", v.Sequence, v.Offset, v.Transactions, v.RecordBytes, recordsText(v.Records))
		}
	}
	for _, i := range c.Images {
		line("")
		line("%s, %d bytes: the state as of save %d", i.Name, i.FileBytes, i.Sequence)
		line("table\trows\tbytes of blocks")
		for _, r := range i.Tables {
			line("  %s\t%d\t%d", r.Table, r.Rows, r.BlockBytes)
		}
	}
	if len(c.Others) > 0 {
		line("")
		line("other file\tbytes\t")
		for _, f := range c.Others {
			line("%s\t%d\t%s", f.Name, f.FileBytes, f.Why)
		}
	}
	if len(c.Damage) > 0 {
		line("")
		for _, d := range c.Damage {
			line("damage: %s, offset %d: %s", d.File, d.Offset, d.What)
		}
	}
	return t.Flush()
}

// some is a sequence number, or a dash for none.
func some(sequence uint64) string {
	if sequence == 0 {
		return "-"
	}
	return fmt.Sprint(sequence)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func recordsText(all []TableRecords) string {
	var parts []string
	for _, r := range all {
		text := r.Table
		for _, part := range []struct {
			sign string
			n    int64
		}{{"+", r.Inserts}, {"~", r.Updates}, {"-", r.Deletes}} {
			if part.n > 0 {
				text += fmt.Sprintf(" %s%d", part.sign, part.n)
			}
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

package page

import (
	"html/template"

	"tpccbench/report/plot"
)

// section is a part of the page with a heading of its own.
type section struct {
	ID, Title string
	Blocks    []block
}

// block is one thing in a section. Exactly one member is set.
type block struct {
	Heading string // of what follows, below the section's
	Text    string // a paragraph
	Note    string // a paragraph in small print
	Alarm   []string
	Bullets []string
	Figures []figure
	Keys    []key // what the lines of the figures that follow mean
	Table   *table
	Tables  []*table // side by side where there is room
	Details *details
	Verdict *verdict
	Code    string // to copy
}

// pack puts tables that follow one another side by side.
func pack(blocks []block) []block {
	var packed []block
	for _, b := range blocks {
		if b.Details != nil {
			b.Details.Blocks = pack(b.Details.Blocks)
		}
		n := len(packed)
		switch {
		case b.Table == nil || n == 0:
		case packed[n-1].Table != nil:
			packed[n-1] = block{Tables: []*table{packed[n-1].Table, b.Table}}
			continue
		case packed[n-1].Tables != nil:
			packed[n-1].Tables = append(packed[n-1].Tables, b.Table)
			continue
		}
		packed = append(packed, b)
	}
	return packed
}

// figure is a picture with its caption.
type figure struct {
	Caption string
	SVG     template.HTML
}

// key is one entry of a legend.
type key struct {
	Swatch template.HTML
	Text   string
}

// details are blocks that the reader has to open; on paper they are open.
type details struct {
	Summary string
	Blocks  []block
}

// table is a table whose first column heads the rows.
type table struct {
	Caption string
	Head    []string
	Rows    [][]cell
	Notes   []string // below the table, numbered from 1
}

// Align is the class of the column's fields, for its heading.
func (t *table) Align(column int) string {
	if len(t.Rows) == 0 || column == 0 || column >= len(t.Rows[0]) {
		return ""
	}
	return t.Rows[0][column].Class
}

// cell is one field of a table.
type cell struct {
	Text   string
	Mark   int    // number of a note; 0: none
	Class  string // "text" for words, "code" for what is copied, "bad" for what is wrong; empty: a figure
	Strong bool
}

func words(s string) cell { return cell{Text: s, Class: "text"} }

func code(s string) cell { return cell{Text: s, Class: "code"} }

func number(s string) cell { return cell{Text: s} }

// note returns the number of the note with the text, which it adds unless it is there.
func (t *table) note(text string) int {
	for i, n := range t.Notes {
		if n == text {
			return i + 1
		}
	}
	t.Notes = append(t.Notes, text)
	return len(t.Notes)
}

func (t *table) row(cells ...cell) { t.Rows = append(t.Rows, cells) }

func text(s string) block { return block{Text: s} }

// picture is what report/plot draws.
type picture interface{ SVG() string }

// drawn is a figure of the picture. report/plot escapes all text in it.
func drawn(caption string, p picture) figure { return figure{caption, template.HTML(p.SVG())} }

func keyOf(ink plot.Ink, dash int, text string) key {
	return key{template.HTML(plot.Swatch(ink, dash)), text}
}

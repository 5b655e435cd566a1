package report

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// layout is a text of headings, paragraphs, lists and tables that is written for a terminal or as markdown.
type layout struct{ blocks []block }

type block interface {
	text(w *bufio.Writer)
	markdown(w *bufio.Writer)
}

// line is a paragraph; emphasised in markdown if strong.
type line struct {
	words  string
	strong bool
}

type heading struct {
	level int // 1 or 2
	words string
}

type list []string

// grid is a table; the first column is aligned to the left, as are those in left, the others to the right.
type grid struct {
	header []string
	rows   [][]string
	left   int // that many columns
}

func (l *layout) add(b block) { l.blocks = append(l.blocks, b) }

func (l *layout) writeText(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i, block := range l.blocks {
		if i > 0 {
			b.WriteByte('\n')
		}
		block.text(b)
	}
	return b.Flush()
}

func (l *layout) writeMarkdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i, block := range l.blocks {
		if i > 0 {
			b.WriteByte('\n')
		}
		block.markdown(b)
	}
	return b.Flush()
}

func (l line) text(w *bufio.Writer) { wrap(w, l.words, "", "") }

func (l line) markdown(w *bufio.Writer) {
	words := escape(l.words)
	if l.strong {
		words = "**" + words + "**"
	}
	w.WriteString(words + "\n")
}

func (h heading) text(w *bufio.Writer) {
	w.WriteString(h.words + "\n" + strings.Repeat([]string{"=", "-"}[h.level-1], utf8.RuneCountInString(h.words)) + "\n")
}

func (h heading) markdown(w *bufio.Writer) {
	w.WriteString(strings.Repeat("#", h.level) + " " + escape(h.words) + "\n")
}

func (l list) text(w *bufio.Writer) {
	for _, item := range l {
		wrap(w, item, "- ", "  ")
	}
}

func (l list) markdown(w *bufio.Writer) {
	for _, item := range l {
		w.WriteString("- " + escape(item) + "\n")
	}
}

func (g grid) text(w *bufio.Writer) {
	width := make([]int, len(g.header))
	for _, row := range append([][]string{g.header}, g.rows...) {
		for i, s := range row {
			width[i] = max(width[i], utf8.RuneCountInString(s))
		}
	}
	for _, row := range append([][]string{g.header}, g.rows...) {
		var b strings.Builder
		for i, s := range row {
			blanks := strings.Repeat(" ", width[i]-utf8.RuneCountInString(s))
			b.WriteString("  ")
			if i <= g.left {
				b.WriteString(s + blanks)
			} else {
				b.WriteString(blanks + s)
			}
		}
		w.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	}
}

func (g grid) markdown(w *bufio.Writer) {
	row := func(cells []string) {
		for _, s := range cells {
			w.WriteString("| " + escape(s) + " ")
		}
		w.WriteString("|\n")
	}
	row(g.header)
	for i := range g.header {
		if i <= g.left {
			w.WriteString("|---")
		} else {
			w.WriteString("|---:")
		}
	}
	w.WriteString("|\n")
	for _, cells := range g.rows {
		row(cells)
	}
}

// escape keeps text from being taken for markdown.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "`", "\\`", "<", "&lt;", "\n", " ").Replace(s)
}

// textWidth is the width to which paragraphs are wrapped on a terminal.
const textWidth = 110

// wrap writes words in lines of at most textWidth, the first with the one prefix, the others with the other.
func wrap(w *bufio.Writer, words, first, rest string) {
	prefix := first
	for words != "" {
		part := words
		if room := textWidth - len(prefix); utf8.RuneCountInString(part) > room {
			cut := len(string([]rune(part)[:room+1]))
			if i := strings.LastIndexByte(part[:cut], ' '); i > 0 {
				part = part[:i]
			} else if i := strings.IndexByte(part, ' '); i > 0 {
				part = part[:i]
			}
		}
		w.WriteString(prefix + part + "\n")
		words = strings.TrimLeft(words[len(part):], " ")
		prefix = rest
	}
}

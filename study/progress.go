package study

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// Progress shows one line on a terminal that says what is running and how long it may still take. With a nil writer it
// shows nothing, and still keeps count for Count.
type Progress struct {
	w     io.Writer
	total float64 // estimated seconds of all that was to be done
	past  float64 // estimated seconds of what is done
	took  float64 // real seconds of what is done
	steps int     // that were to be done; 0: one, not worth counting
	done  int

	name    string
	guess   float64 // estimated seconds of what is running
	started time.Time
	shown   bool
}

// NewProgress makes the progress of steps that are estimated to take total seconds together; w may be nil.
func NewProgress(w io.Writer, total float64) *Progress { return &Progress{w: w, total: total} }

// Steps says that there are so many steps, which the line counts then.
func (p *Progress) Steps(n int) { p.steps = n }

// Count is how many steps are done, of how many, and how long the rest may take: "3 of 7, about 12 min left".
func (p *Progress) Count() string {
	text := fmt.Sprintf("%d of %d", p.done, p.steps)
	if p.done < p.steps {
		text += ", about " + durationText(p.left()) + " left"
	}
	return text
}

// Begin starts a step that is estimated to take so many seconds.
func (p *Progress) Begin(name string, seconds float64) {
	p.name, p.guess, p.started = name, seconds, time.Now()
	p.Live(Live{Step: "preparing"})
}

// End ends the step.
func (p *Progress) End() {
	p.past += p.guess
	p.took += time.Since(p.started).Seconds()
	p.done++
	p.guess, p.started = 0, time.Now()
	p.Clear()
}

// left estimates the seconds that are left: the estimates, corrected by how they have held so far.
func (p *Progress) left() float64 {
	rate := 1.0
	if p.past > 0 {
		rate = p.took / p.past
	}
	running := time.Since(p.started).Seconds()
	return max(0, p.guess*rate-running) + max(0, p.total-p.past-p.guess)*rate
}

// Live shows the state of the running step.
func (p *Progress) Live(l Live) {
	if p.w == nil {
		return
	}
	line := fmt.Sprintf("%3.0f%%  ", 100*min(1, p.past/max(p.total, 1)))
	if p.steps > 0 {
		line += fmt.Sprintf("%d/%d  ", p.done+1, p.steps)
	}
	line += p.name + "  " + l.Step
	if l.Step == "running" && l.PerSecond > 0 {
		line += fmt.Sprintf(" %.0f tx/s", l.PerSecond)
	}
	if l.Backlog > 0 {
		line += fmt.Sprintf(" backlog %d", l.Backlog)
	}
	if l.Seconds > 0 {
		line += fmt.Sprintf(" %.0f s", l.Seconds)
	}
	line += "  about " + durationText(p.left()) + " left"
	fmt.Fprintf(p.w, "\r\x1b[K%s", cut(line, p.width()-1))
	p.shown = true
}

// width is that of the terminal: a longer line would wrap, and could not be removed again.
func (p *Progress) width() int {
	if f, ok := p.w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// cut shortens a line to n characters.
func cut(line string, n int) string {
	if r := []rune(line); len(r) > n {
		return string(r[:max(n, 0)])
	}
	return line
}

// Clear removes the line.
func (p *Progress) Clear() {
	if p != nil && p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// durationText renders seconds for people.
func durationText(s float64) string {
	switch {
	case s < 90:
		return fmt.Sprintf("%.0f s", s)
	case s < 5400:
		return fmt.Sprintf("%.0f min", s/60)
	}
	return fmt.Sprintf("%.1f h", s/3600)
}

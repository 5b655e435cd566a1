package study

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// logName is the file in a study's folder that keeps what was said while it was carried out, one line per event with the
// time (UTC) before it. It is only appended to, over all parts of a resumed study, and nothing is computed from it.
const logName = "study.log"

// logf prints a line for the reader and keeps it in the study's log.
func (s *Study) logf(format string, args ...any) {
	s.progress.Clear()
	text := fmt.Sprintf(format, args...)
	fmt.Fprintln(s.o.Log, text)
	s.note(text)
}

// note keeps a line in the study's log. One that cannot be kept is passed over: a full disk shows where it matters.
func (s *Study) note(text string) {
	f, err := os.OpenFile(filepath.Join(s.o.Out, logName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return
	}
	_, err = fmt.Fprintf(f, "%s %s\n", time.Now().UTC().Format(time.RFC3339), strings.ReplaceAll(text, "\n", " "))
	_ = errors.Join(err, f.Close())
}

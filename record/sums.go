package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// raw.sha256 lies in a study's folder, beside raw/. It says which raw records were written, in which order, and what
// their content was, so that a record that is altered, gone or added later can be named. It is text as sha256sum writes
// and checks it ("cd results/NAME && sha256sum -c raw.sha256"), one line per record, and is only ever appended to:
//
//	HEX  raw/NAME.json       64 lower-case hex digits, two blanks, the path from the study's folder
//	# TEXT                   a note
//
// A line is appended, and on the device, after its record is. So a study that is killed between the two leaves a record
// without a line; the next --resume adds the line under a note. A last line without a line feed was torn by a crash.

// SumsName is the name of the file in a study's folder.
const SumsName = "raw.sha256"

// Sums is the content of raw.sha256.
type Sums struct {
	Names []string          // of records, without folder, in the order of the lines
	SHA   map[string]string // hex, by name
	Notes []string          // without "# "
	torn  bool              // a line without a line feed is at the end; it is not in Names
}

// ReadSums reads raw.sha256 of a study's folder. Without one, as in studies of the first version, the result is empty
// and the error wraps fs.ErrNotExist. A name that is there twice is an error: a record is written once.
func ReadSums(study string) (*Sums, error) {
	s := &Sums{SHA: map[string]string{}}
	path := filepath.Join(study, SumsName)
	b, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	lines := strings.SplitAfter(string(b), "\n")
	for i, line := range lines {
		text, whole := strings.CutSuffix(line, "\n")
		switch note, isNote := strings.CutPrefix(text, "# "); {
		case !whole:
			s.torn = line != ""
			continue
		case isNote:
			s.Notes = append(s.Notes, note)
			continue
		}
		sum, file, ok := strings.Cut(text, "  ")
		name, inRaw := strings.CutPrefix(file, "raw/")
		if _, err := hex.DecodeString(sum); !ok || !inRaw || err != nil || len(sum) != 2*sha256.Size || strings.Contains(name, "/") {
			return nil, fmt.Errorf("%s:%d: %q is no line of it: HEX  raw/NAME.json", path, i+1, text)
		}
		if s.SHA[name] != "" {
			return nil, fmt.Errorf("%s:%d: %s is there twice; a record is written once", path, i+1, name)
		}
		s.SHA[name] = sum
		s.Names = append(s.Names, name)
	}
	return s, nil
}

// SumDifferences is what differs between raw.sha256 and the records in raw/. Names are in name order.
type SumDifferences struct {
	Altered []string // the content is not what was written
	Gone    []string // there is a line and no file
	Unknown []string // there is a file and no line
}

// Compare compares the lines with the files of raw/ in the study's folder.
func (s *Sums) Compare(study string) (d SumDifferences, err error) {
	dir := filepath.Join(study, "raw")
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	there := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".json") || strings.HasPrefix(name, ".") {
			continue
		}
		there[name] = true
		sum, err := sumOf(filepath.Join(dir, name))
		switch {
		case err != nil:
			return d, err
		case s.SHA[name] == "":
			d.Unknown = append(d.Unknown, name)
		case s.SHA[name] != sum:
			d.Altered = append(d.Altered, name)
		}
	}
	for _, name := range s.Names {
		if !there[name] {
			d.Gone = append(d.Gone, name)
		}
	}
	slices.Sort(d.Gone)
	return d, nil
}

func sumOf(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// AppendSum appends the line of a record that was just written to raw.sha256 of the study's folder, durably. name is
// that of the file in raw/. A note, if not empty, is put before it.
func AppendSum(study, name, note string) error {
	sum, err := sumOf(filepath.Join(study, "raw", name))
	if err != nil {
		return err
	}
	text := fmt.Sprintf("%s  raw/%s\n", sum, name)
	if note != "" {
		text = "# " + strings.ReplaceAll(note, "\n", " ") + "\n" + text
	}
	f, err := os.OpenFile(filepath.Join(study, SumsName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close(), syncDir(study))
}

// Mend cuts off a line that a crash tore, and says whether there was one.
func (s *Sums) Mend(study string) (bool, error) {
	if !s.torn {
		return false, nil
	}
	path := filepath.Join(study, SumsName)
	b, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	s.torn = false
	return true, os.Truncate(path, int64(bytes.LastIndexByte(b, '\n')+1))
}

package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"tpccbench/record"
)

// csvTable is a CSV file with a header: per row its fields by column. Blank lines are none.
type csvTable struct {
	columns []string
	rows    []csvRow
}

type csvRow struct {
	line   int // of the file, from 1
	fields map[string]string
}

func readCSV(b []byte) (*csvTable, error) {
	r := csv.NewReader(bytes.NewReader(b))
	t := new(csvTable)
	var err error
	if t.columns, err = r.Read(); err != nil {
		return nil, fmt.Errorf("no header: %w", err)
	}
	for i, c := range t.columns {
		if slices.Contains(t.columns[:i], c) {
			return nil, fmt.Errorf("column %q is there twice", c)
		}
	}
	lines, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	for i, fields := range lines {
		row := csvRow{line: i + 2, fields: map[string]string{}}
		for j, c := range t.columns {
			row.fields[c] = fields[j]
		}
		t.rows = append(t.rows, row)
	}
	return t, nil
}

// runOf is the name of the run that a row of matrix.csv is of.
func (r *csvRow) runOf() string {
	return fmt.Sprintf("%s-%s-r%s", r.fields["phase"], r.fields["cell"], r.fields["round"])
}

// checkCSV makes matrix.csv anew in memory and compares it with the file, row by row. Rows may stand in any order: a
// resumed study has them in another. A column that the file lacks is of a later program, and no problem as long as no
// record holds a figure in it.
func (s *Study) checkCSV() error {
	b, err := os.ReadFile(s.path(csvFile))
	if errors.Is(err, fs.ErrNotExist) {
		if len(s.Runs) > 0 {
			s.problem(Missing, csvFile, "there are raw records, and no table of them")
		}
		return nil
	}
	if err != nil {
		return err
	}
	file, err := readCSV(b)
	if err != nil {
		s.problem(Unreadable, csvFile, "%v", err)
		return nil
	}
	var buf bytes.Buffer
	if err := record.WriteCSV(&buf, s.Runs); err != nil {
		return err
	}
	fresh, err := readCSV(buf.Bytes())
	if err != nil {
		return err
	}
	for _, c := range file.columns {
		if !slices.Contains(fresh.columns, c) {
			s.problem(Foreign, csvFile, "there is no column %q", c)
		}
	}
	newest := 0
	for _, r := range s.Runs {
		newest = max(newest, r.Version)
	}
	var later []string
	for _, c := range fresh.columns {
		if slices.Contains(file.columns, c) {
			continue
		}
		if record.SinceVersion(c) > newest {
			later = append(later, c)
			continue
		}
		if slices.ContainsFunc(fresh.rows, func(r csvRow) bool { return r.fields[c] != "" }) {
			s.problem(Altered, csvFile, "column %q is gone; the raw records hold it", c)
			continue
		}
		later = append(later, c)
	}
	if len(later) > 0 {
		s.note("%s was written before there were the columns %s", csvFile, strings.Join(later, ", "))
	}
	s.compareRows(file, fresh)
	return nil
}

func (s *Study) compareRows(file, fresh *csvTable) {
	want := map[string]csvRow{}
	for _, r := range fresh.rows {
		want[r.runOf()] = r
	}
	seen := map[string]int{} // line by run
	for _, have := range file.rows {
		name := have.runOf()
		if first, twice := seen[name]; twice {
			s.problem(Duplicated, csvFile, "line %d is a second row of %s, which is in line %d", have.line, name, first)
			continue
		}
		seen[name] = have.line
		row, ok := want[name]
		if !ok {
			if _, named := s.excluded[name]; !named {
				s.problem(Missing, path.Join(rawDir, name+".json"), "%s line %d has its row, and there is no record of it", csvFile, have.line)
				s.exclude(name, "its record was removed")
			}
			continue
		}
		for _, c := range file.columns {
			if v, known := row.fields[c]; known && v != have.fields[c] {
				s.problem(Altered, csvFile, "line %d (%s), column %s is %q; its raw record gives %q", have.line, name, c, have.fields[c], v)
				if !s.hashesKept {
					s.exclude(name, "its record and "+csvFile+" differ, and no hash says which was altered")
				}
			}
		}
	}
	for _, r := range fresh.rows {
		if _, ok := seen[r.runOf()]; !ok {
			s.problem(Missing, csvFile, "no row of %s, whose raw record is there", r.runOf())
		}
	}
}

// checkSeries compares series/*.csv with the series of the raw records. They are written when a study is done; those of
// a study that goes on, or none at all, are no problem.
func (s *Study) checkSeries() error {
	entries, err := os.ReadDir(s.path(seriesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, isCSV := strings.CutSuffix(e.Name(), ".csv")
		if !isCSV || strings.HasPrefix(name, ".") {
			continue
		}
		file := path.Join(seriesDir, e.Name())
		r, ok := s.Run(name)
		if !ok {
			if _, named := s.excluded[name]; !named {
				s.problem(Foreign, file, "there is no raw record of that name")
			}
			continue
		}
		b, err := os.ReadFile(s.path(file))
		if err != nil {
			return err
		}
		if err := s.compareSeries(file, b, r); err != nil {
			return err
		}
	}
	return nil
}

func (s *Study) compareSeries(file string, b []byte, r *record.Run) error {
	table, err := readCSV(b)
	if err != nil {
		s.problem(Unreadable, file, "%v", err)
		return nil
	}
	if len(table.rows) != len(r.Series) {
		s.problem(Altered, file, "it has %s; the raw record has %d", counted(len(table.rows), "second"), len(r.Series))
		return nil
	}
	for i, row := range table.rows {
		second, err := jsonFields(r.Series[i])
		if err != nil {
			return err
		}
		for _, c := range table.columns {
			if v, known := second[c]; !known || v != row.fields[c] {
				s.problem(Altered, file, "line %d, column %s is %q; the raw record has %q", row.line, c, row.fields[c], v)
			}
		}
	}
	return nil
}

// jsonFields are the members of a second as the CSV files write them: the names of its JSON form, empty for null.
func jsonFields(second record.Second) (map[string]string, error) {
	b, err := json.Marshal(second)
	if err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for k, v := range raw {
		fields[k] = string(v)
		if fields[k] == "null" {
			fields[k] = ""
		}
	}
	return fields, nil
}

package sweep

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxList bounds a --list file in bytes.
const maxList = 64 << 20

// ReadList reads the rows of --list: CSV with the names of arguments in the first line, or
// one JSON object per line. All rows must have the same names. Errors name the line.
func ReadList(r io.Reader) ([][]Param, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxList+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxList:
		return nil, fmt.Errorf("more than %d MiB", maxList>>20)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	read := readCSV
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		read = readJSONLines
	}
	rows, err := read(data)
	switch {
	case err != nil:
		return nil, err
	case len(rows) == 0:
		return nil, errors.New("no runs: write one JSON object per line, or CSV whose first line has the names")
	case len(rows) > MaxTrials:
		return nil, fmt.Errorf("%d runs, want at most %d", len(rows), MaxTrials)
	}
	return rows, nil
}

func readCSV(data []byte) (rows [][]Param, err error) {
	r := csv.NewReader(bytes.NewReader(data))
	names, err := r.Read()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("line 1: column %d has no name, or one that repeats", i+1)
		}
	}
	for {
		values, err := r.Read() // refuses rows of other lengths
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		row := make([]Param, len(names))
		for i, name := range names {
			row[i] = Param{name, values[i]}
		}
		rows = append(rows, row)
	}
}

func readJSONLines(data []byte) (rows [][]Param, err error) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxList)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		row, err := readObject(lines.Bytes())
		if err == nil && len(rows) > 0 && !sameNames(row, rows[0]) {
			err = errors.New("other names than in the first run")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		rows = append(rows, row)
	}
	return rows, lines.Err()
}

func sameNames(a, b []Param) bool {
	return slices.EqualFunc(a, b, func(a, b Param) bool { return a.Name == b.Name })
}

// readObject returns the members of a JSON object by name.
func readObject(line []byte) (row []Param, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("text behind the object")
	}
	for name, v := range object {
		text, err := valueText(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		row = append(row, Param{name, text})
	}
	slices.SortFunc(row, func(a, b Param) int { return cmp.Compare(a.Name, b.Name) })
	return row, nil
}

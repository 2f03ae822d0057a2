package apps

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"strings"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/humanize"
)

// listWriter prints the apps of `list` in one format.
type listWriter interface {
	add(a *history.View) error
	end() error // is called once, after the last app
}

// templateFormat is followed by the template.
const templateFormat = "go-template="

// The formats for people.
const (
	listFormatTable = "table"
	listFormatWide  = "wide"
)

// ListFormats are the values of --output, the default first.
var ListFormats = []string{listFormatTable, listFormatWide, "json", "jsonl", "page", "name", "csv", templateFormat}

// writer returns the writer of the format.
func (o *listOptions) writer(f *program.Factory) (listWriter, error) {
	format := o.output
	columns, err := parseColumns(o.columns)
	if err != nil {
		return nil, err
	}
	for _, short := range []struct {
		flag, means string
		given       bool
	}{{"--json", "json", o.json}, {"--quiet", "name", o.quiet}} {
		switch {
		case short.given && format != "" && format != short.means:
			return nil, program.Usagef("list", "%s and another output format cannot be used together", short.flag)
		case short.given:
			format = short.means
		}
	}
	buffered := bufio.NewWriterSize(f.Out, 64<<10)
	switch format {
	case "", listFormatTable:
		return &tableWriter{f: f, columns: columns}, nil
	case listFormatWide:
		return &tableWriter{f: f, wide: true, columns: columns}, nil
	case "csv":
		if len(columns) == 0 {
			columns = csvColumns
		}
		return newCSVWriter(buffered, columns)
	}
	if len(columns) > 0 {
		return nil, program.Usagef("list", "--columns is for tables and csv: use --values with -o %s", format)
	}
	switch format {
	case "json":
		return &jsonWriter{f: f, apps: []listObject{}}, nil
	case "page":
		return &pageWriter{f: f, Apps: []listObject{}}, nil
	case "jsonl":
		e := json.NewEncoder(buffered)
		e.SetEscapeHTML(false)
		return &lineWriter{out: buffered, line: func(a *history.View) error { return e.Encode(newListObject(a)) }}, nil
	case "name":
		return &lineWriter{out: buffered, line: func(a *history.View) error {
			_, err := buffered.WriteString(ui.OneLine(a.Handle()) + "\n")
			return err
		}}, nil
	}
	if text, ok := strings.CutPrefix(format, templateFormat); ok {
		return newTemplateWriter(buffered, text)
	}
	return nil, program.Usagef("list", "unknown output format %s: it is one of %sTEMPLATE.%s",
		ui.QuoteWord(format), strings.Join(ListFormats, ", "), humanize.Hint(format, ListFormats))
}

// jsonWriter prints a JSON array.
type jsonWriter struct {
	f    *program.Factory
	apps []listObject
}

func (w *jsonWriter) add(a *history.View) error {
	w.apps = append(w.apps, newListObject(a))
	return nil
}

func (w *jsonWriter) end() error { return w.f.PrintJSON(w.apps) }

// pageWriter prints a part of the list, and how long all of it is.
type pageWriter struct {
	f      *program.Factory
	Total  int          `json:"total"`
	Offset int          `json:"offset"`
	Apps   []listObject `json:"apps"`
}

func (w *pageWriter) add(a *history.View) error {
	w.Apps = append(w.Apps, newListObject(a))
	return nil
}

func (w *pageWriter) end() error { return w.f.PrintJSON(w) }

// lineWriter prints each app at once.
type lineWriter struct {
	out  *bufio.Writer
	line func(a *history.View) error
}

func (w *lineWriter) add(a *history.View) error { return w.line(a) }
func (w *lineWriter) end() error                { return w.out.Flush() }

// newCSVWriter returns a writer of RFC 4180, with a header and lines that end with \n. Unknown
// values are empty, tags have the form of [torchx] tags, and control characters are escaped.
func newCSVWriter(out *bufio.Writer, names []string) (listWriter, error) {
	w := csv.NewWriter(out)
	if err := w.Write(names); err != nil {
		return nil, err
	}
	return &lineWriter{out: out, line: func(a *history.View) error {
		if err := w.Write(columnTexts(a, names)); err != nil {
			return err
		}
		w.Flush()
		return w.Error()
	}}, nil
}

// TimeText returns a time in RFC 3339, "" for nil.
func TimeText(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

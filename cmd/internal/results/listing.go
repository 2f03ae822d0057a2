package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/outputs"
)

// listing prints entries as they are found: an app may have a million files.
type listing struct {
	f      *program.Factory
	out    *bufio.Writer
	json   bool
	array  ui.ArrayWriter // of --json
	lines  int
	files  int
	size   int64 // of all files, in bytes
	unread bool  // a folder could not be read
}

func newListing(f *program.Factory, asJSON bool) *listing {
	out := bufio.NewWriterSize(f.Out, 1<<16)
	return &listing{f: f, out: out, json: asJSON, array: ui.ArrayWriter{W: out}}
}

// fileObject is an element of `output --json`.
type fileObject struct {
	File       string        `json:"file"`
	Kind       string        `json:"kind"`
	Bytes      int64         `json:"bytes"`
	ModifiedAt time.Time     `json:"modified_at"`
	Target     ui.NullString `json:"target"`
	Error      ui.NullString `json:"error"` // why the files of a folder are not listed
}

// kindOf returns the kind of a file as it is printed.
func kindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "folder"
	case fs.ModeSymlink:
		return "link"
	case fs.ModeNamedPipe:
		return "pipe"
	case fs.ModeSocket:
		return "socket"
	}
	return "device"
}

// add prints an entry. It leaves out folders whose entries follow.
func (l *listing) add(e outputs.Entry) error {
	if e.Err != nil {
		l.unread = true
		l.f.Explain(fmt.Errorf("list %s: %w", quoted(e.Name), cause(e.Err)))
	}
	if e.Mode.IsDir() && !e.Empty && e.Err == nil {
		return nil
	}
	if e.Mode.IsRegular() {
		l.files++
		l.size += e.Size
	}
	l.lines++
	if l.json {
		return l.addJSON(e)
	}
	return l.addLine(e)
}

func (l *listing) addJSON(e outputs.Entry) error {
	o := fileObject{File: e.Name, Kind: kindOf(e.Mode), Bytes: e.Size, ModifiedAt: e.Time.UTC(), Target: ui.NullString(e.Target)}
	if e.Err != nil {
		o.Error = ui.NullString(cause(e.Err).Error())
	}
	data, err := ui.EncodeJSON(o)
	if err != nil {
		return err
	}
	return l.array.Add(bytes.TrimSpace(data))
}

// addLine prints a line of the table. Sizes and times have a fixed width, so that no line
// waits for others.
func (l *listing) addLine(e outputs.Entry) error {
	if l.lines == 1 {
		fmt.Fprintln(l.out, l.f.OutStyle.Paint(ui.AnsiBold, fmt.Sprintf("%9s  %-16s  %s", "SIZE", "MODIFIED", "FILE")))
	}
	size, name := "", quoted(e.Name)
	switch {
	case e.Mode.IsRegular():
		size = ui.BytesText(e.Size)
	case e.Mode.IsDir():
		name += "/"
	case e.Target != "":
		name += " -> " + quoted(e.Target)
	default:
		name += " (" + kindOf(e.Mode) + ")"
	}
	when := l.f.OutStyle.Paint(ui.AnsiDim, e.Time.Local().Format("2006-01-02 15:04"))
	_, err := fmt.Fprintf(l.out, "%9s  %s  %s\n", size, when, name)
	return err
}

// end completes the output.
func (l *listing) end(err error) error {
	if err == nil && l.json {
		err = l.array.End()
	}
	return errors.Join(err, l.out.Flush())
}

// quoted returns a name as it is, or quoted if it could control a terminal or be mistaken
// for two lines.
func quoted(name string) string {
	if ui.OneLine(name) != name {
		return strconv.Quote(name)
	}
	return name
}

// cause returns an error without the path that messages name already.
func cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

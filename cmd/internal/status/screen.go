package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// dateTimeFormat is how pages show a time.
const dateTimeFormat = "2006-01-02 15:04:05 MST"

// screen is a page for people: where and how it is shown.
type screen struct {
	now    time.Time // in the time zone of the user
	width  int       // columns; 0: not a terminal, nothing is wrapped
	style  ui.Style
	masked func(string) string // hides secrets

	imported *backend.Import // nil: an app of this home
}

// newScreen returns the user's screen.
func newScreen(f *program.Factory) screen {
	return screen{now: failpoint.Now().Local(), width: ui.ScreenWidth(f.Out), style: f.OutStyle, masked: f.Masked}
}

// importOf returns where an app was imported from, nil if it was not.
func importOf(r *runner.Runner, ref runner.Ref) *backend.Import {
	can, err := r.Backends.Capabilities(ref.Backend)
	if err != nil || can.Imports == nil {
		return nil
	}
	from, _ := can.Imports.ImportOf(ref.ID) // nil with an error: it is being deleted
	return from
}

// commandText returns the component and its arguments, "" if they are not known.
func commandText(f *program.Factory, d *history.View) string {
	if d.Component == "" {
		return ""
	}
	return ui.OneLine(f.Masked(strings.TrimSpace(d.Component + " " + foldedArgs(f.MaskedArgs(d.Args)))))
}

// decodeApp decodes the app of a description.
func decodeApp(raw json.RawMessage) (*spec.App, error) {
	app := &spec.App{}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return app, decoder.Decode(app)
}

// addOrigin adds the labels of an app, the home that it was imported from, and the runs that it
// repeats or belongs to.
func (p *screen) addOrigin(fields *ui.Fields, d *history.View) {
	if i := p.imported; i != nil {
		fields.Add("Imported", p.clean("from "+i.Handle+" on "+i.Host)+", exported "+p.ago(&i.ExportedAt))
	}
	fields.Add("Tags", p.clean(history.FormatTags(d.Tags, " ")))
	fields.Add("Note", ui.Clean(p.masked(d.Note), true))
	fields.Add("Rerun of", p.clean(d.RerunOf))
	fields.Add("Parent", p.clean(d.ParentRunID))
}

// clean returns a line from outside with control characters escaped and secrets hidden.
func (p *screen) clean(line string) string { return ui.OneLine(p.masked(line)) }

// ago returns a time and how long ago it was, "" for nil.
func (p *screen) ago(t *time.Time) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("%s (%s ago)", t.In(p.now.Location()).Format(dateTimeFormat),
		ui.Age(p.now.Sub(*t)))
}

// tableWithNotes returns a table with a note below each row, "" for none. On a terminal,
// texts of the columns in shorten are cut until a line fits, then columns are left out.
func (p *screen) tableWithNotes(
	tab *ui.Table, shorten []string, note func(row int) string, spare ...string,
) string {
	if p.width > 0 {
		for _, column := range shorten {
			tab.Shorten(column, p.width, minShortened)
		}
		tab.Fit(p.width, spare...)
	}
	var table strings.Builder
	_ = tab.Write(&table, p.style) // a Builder takes everything
	lines := strings.SplitAfter(table.String(), "\n")
	text := lines[0]
	for i := range tab.Rows {
		text += lines[i+1]
		if n := note(i); n != "" {
			text += ui.Indent(n, p.width, 2)
		}
	}
	return text
}

// minShortened is the width that a shortened column keeps.
const minShortened = 12

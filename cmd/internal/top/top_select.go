package top

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"torchx/runtime/usage"
)

// row is a row of the table: an app, or one of its replicas.
type row struct {
	app     *usage.App
	replica *usage.Replica // nil: the app
}

// rowsOf returns the rows of topTable.
func rowsOf(apps []*usage.App) (rows []row) {
	for _, a := range apps {
		rows = append(rows, row{app: a})
		for i := range a.Replicas {
			rows = append(rows, row{a, &a.Replicas[i]})
		}
	}
	return rows
}

// name identifies a row, as users name it: HANDLE or HANDLE/ROLE/ID.
func (r row) name() string {
	if r.replica == nil {
		return r.app.Handle()
	}
	return fmt.Sprintf("%s/%s/%d", r.app.Handle(), r.replica.Role, r.replica.ID)
}

// selection is the selected row. It stays on its row when others come, end or are sorted.
type selection struct {
	name  string // of the row, "" before the first
	at    int    // its index, or where it was before it ended
	first int    // row at the top of the screen
}

// move moves the selection by some rows, and the page so that it shows the selected one.
func (s *selection) move(rows []row, by, page int) {
	if s.name != "" {
		if i := slices.IndexFunc(rows, func(r row) bool { return r.name() == s.name }); i >= 0 {
			s.at = i
		}
	}
	s.at = max(0, min(s.at+by, len(rows)-1))
	if len(rows) > 0 && (by != 0 || s.name != "") {
		s.name = rows[s.at].name()
	}
	s.first = max(0, min(s.first, s.at, len(rows)-page), s.at-page+1)
}

// filter selects apps by a text that is typed.
type filter struct {
	text   string
	typing bool
}

// key changes the text.
func (f *filter) key(k byte) {
	const backspace, del, ctrlU, escape = 8, 127, 21, 27
	switch k {
	case '\r', '\n':
		f.typing = false
	case escape:
		*f = filter{}
	case backspace, del:
		_, size := utf8.DecodeLastRuneInString(f.text)
		f.text = f.text[:len(f.text)-size]
	case ctrlU:
		f.text = ""
	default:
		if k >= ' ' {
			f.text += string([]byte{k})
		}
	}
}

// apply returns the apps with the text in their backend, ID, component or state, ignoring case.
func (f *filter) apply(apps []*usage.App) []*usage.App {
	if f.text == "" {
		return apps
	}
	var left []*usage.App
	for _, a := range apps {
		text := strings.ToLower(strings.Join([]string{a.Backend, a.ID, a.Component, a.State.String()}, "\n"))
		if strings.Contains(text, strings.ToLower(f.text)) {
			left = append(left, a)
		}
	}
	return left
}

// emptyText is shown instead of rows.
func (f *filter) emptyText() string {
	if f.text != "" {
		return fmt.Sprintf("no app has %q in its ID, component or state: / changes the filter", f.text)
	}
	return "no app is running, and none has ended within the last minute"
}

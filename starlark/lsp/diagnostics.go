package lsp

import (
	"slices"
	"strings"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"torchx/starlark/starfiles"
	"torchx/starlark/starlint"
)

// diagnoseAfter is the pause in typing after which a document is diagnosed.
const diagnoseAfter = 200 * time.Millisecond

// source is the name of the server in diagnostics.
const source = "torchx"

// diagnose schedules the diagnostics of a document.
func (s *server) diagnose(uri string) {
	s.documents.debounce(uri, func() {
		snap := s.snapshot(uri)
		if snap == nil || s.ctx.Err() != nil {
			return
		}
		defer s.recoverPanic(&jsonrpc2.Request{Method: "diagnose " + uri, Notif: true})
		found := snap.diagnostics()
		// Drop outdated diagnostics: new ones are already scheduled.
		if now := s.documents.get(uri); now == nil || now.version != snap.version {
			return
		}
		s.publish(diagnosticsParams{URI: uri, Version: &snap.version, Diagnostics: found})
	})
}

func (s *server) publish(p diagnosticsParams) {
	if err := s.conn.Notify(s.ctx, "textDocument/publishDiagnostics", p); err != nil &&
		s.ctx.Err() == nil {
		s.Printf("%v", err)
	}
}

// diagnostics lists the findings of lint.
func (s *snapshot) diagnostics() []diagnostic {
	out := []diagnostic{}
	if s.readOnly {
		return out
	}
	for _, f := range starlint.Check(s.file, s) {
		out = append(out, s.finding(f))
	}
	return out
}

func (s *snapshot) finding(f starlint.Finding) diagnostic {
	d := diagnostic{
		Range: s.rangeOf(f.Start.Offset, f.End.Offset), Severity: severityWarning, Code: f.Rule, Source: source, Message: f.Message,
	}
	if f.Severity == starlint.Error {
		d.Severity = severityError
	}
	if strings.HasPrefix(f.Rule, "unused-") || f.Rule == "unreachable" {
		d.Tags = []int{tagUnnecessary}
	}
	return d
}

// fixes returns the fixes for a part of the document.
func (s *snapshot) fixes(at textRange) []codeAction {
	out := []codeAction{}
	from, to := s.enc.offset(&s.file.Lines, at.Start), s.enc.offset(&s.file.Lines, at.End)
	if s.readOnly {
		return out
	}
	for _, f := range starlint.Check(s.file, s) {
		if f.Fix == nil || f.End.Offset < from || f.Start.Offset > to {
			continue
		}
		edits := make([]textEdit, len(f.Fix.Edits))
		for i, e := range f.Fix.Edits {
			edits[i] = textEdit{s.rangeOf(e.Start.Offset, e.End.Offset), e.Text}
		}
		out = append(out, codeAction{f.Fix.Title, "quickfix", []diagnostic{s.finding(f)}, workspaceEdit{map[string][]textEdit{s.uri: edits}}})
	}
	return out
}

// formatting returns the edits that format the document.
func (s *snapshot) formatting() ([]textEdit, error) {
	out, err := starfiles.Format(s.file.Name, []byte(s.file.Text))
	if err != nil {
		return nil, err
	}
	return s.lineEdits(string(out)), nil
}

// lineEdits replaces the lines between the first and the last that differ, so that the cursor
// does not move elsewhere.
func (s *snapshot) lineEdits(text string) []textEdit {
	old, now := strings.SplitAfter(s.file.Text, "\n"), strings.SplitAfter(text, "\n")
	if slices.Equal(old, now) {
		return []textEdit{}
	}
	front := 0
	for front < min(len(old), len(now)) && old[front] == now[front] {
		front++
	}
	back := 0
	for back < min(len(old), len(now))-front && old[len(old)-1-back] == now[len(now)-1-back] {
		back++
	}
	from := len(strings.Join(old[:front], ""))
	to := len(s.file.Text) - len(strings.Join(old[len(old)-back:], ""))
	return []textEdit{{s.rangeOf(from, to), strings.Join(now[front:len(now)-back], "")}}
}

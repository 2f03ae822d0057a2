package lsp

import (
	"errors"
	"unicode/utf16"
	"unicode/utf8"

	"torchx/starlark/analysis"
	"torchx/starlark/interp"
)

// snapshot is a document and all other open documents, at one moment.
type snapshot struct {
	*server
	*document
	enc  encoding
	open map[string]*analysis.File // by the source's key and by the path on disk
}

var _ analysis.Loader = (*snapshot)(nil)

// snapshot returns the snapshot of a document, nil if it is not open.
func (s *server) snapshot(uri string) *snapshot {
	doc := s.documents.get(uri)
	if doc == nil {
		return nil
	}
	snap := &snapshot{server: s, document: doc, enc: s.encoding(), open: map[string]*analysis.File{}}
	for _, d := range s.documents.all() {
		if d.file.Source != nil {
			snap.open[d.file.Source.Key()] = d.file
			if p := d.file.Source.Path(); p != "" {
				snap.open[p] = d.file
			}
		}
	}
	return snap
}

var errUnsaved = errors.New("a file that is not on disk cannot load files: save it first")

// Load implements analysis.Loader. An open document takes precedence over its file.
func (s *snapshot) Load(from *analysis.File, label string) (*analysis.File, error) {
	if from.Source == nil {
		return nil, errUnsaved
	}
	source, err := s.files.locator().Loaded(from.Source, label)
	if err != nil {
		return nil, err
	}
	if file := s.open[source.Key()]; file != nil {
		return file, nil
	}
	file, err := s.files.read(source)
	if open := s.open[s.files.diskPath(source)]; err == nil && open != nil {
		// The file is open as part of another workspace, but loads as part of this library.
		return analysis.New(file.Name, source, open.Text, nil), nil
	}
	return file, err
}

// Entries implements analysis.Loader. Unreadable folders have no entries.
func (s *snapshot) Entries(from *analysis.File, folder string) []string {
	if from.Source == nil {
		return nil
	}
	entries, err := s.files.locator().Entries(from.Source, folder)
	if err != nil {
		return nil
	}
	return entries
}

// Roots implements analysis.Loader.
func (s *snapshot) Roots(from *analysis.File) []string {
	roots := []string{"@torchx//"}
	if from.Source == nil || s.config.Libraries == nil || from.Source.Root() == "" {
		return roots
	}
	for _, name := range s.config.Libraries(from.Source.Root()) {
		roots = append(roots, "@"+name+"//")
	}
	return roots
}

// Resources implements analysis.Loader.
func (s *snapshot) Resources(from *analysis.File) []string {
	if s.config.Resources == nil {
		return nil
	}
	root := s.config.Dir
	if from.Source != nil && from.Source.Root() != "" {
		root = from.Source.Root()
	}
	return s.config.Resources(root)
}

func (s *snapshot) rangeOf(from, to int) textRange {
	return s.enc.textRange(&s.file.Lines, from, to)
}

// encoding converts between offsets in bytes and the client's positions.
type encoding struct{ utf8 bool }

// offset returns the offset of a position, at most the end of its line.
func (e encoding) offset(l *interp.Lines, p position) int {
	start, line := l.Start(p.Line), l.Line(p.Line)
	if p.Line < 0 {
		return 0
	}
	if e.utf8 {
		return start + max(0, min(p.Character, len(line)))
	}
	units := 0
	for i, r := range line {
		if units >= p.Character {
			return start + i
		}
		units += max(1, utf16.RuneLen(r))
	}
	return start + len(line)
}

func (e encoding) position(l *interp.Lines, offset int) position {
	line, col := l.LineCol(offset)
	if e.utf8 {
		return position{line, col}
	}
	start := l.Start(line)
	units := 0
	for _, r := range l.Text[start : start+col] {
		units += max(1, utf16.RuneLen(r))
	}
	return position{line, units}
}

func (e encoding) textRange(l *interp.Lines, from, to int) textRange {
	return textRange{e.position(l, from), e.position(l, to)}
}

// apply returns text with a change applied.
func (e encoding) apply(text string, c contentChange) string {
	if c.Range == nil {
		return validUTF8(c.Text)
	}
	l := interp.NewLines(text)
	from, to := e.offset(&l, c.Range.Start), e.offset(&l, c.Range.End)
	return text[:from] + validUTF8(c.Text) + text[max(from, to):]
}

// validUTF8 replaces invalid UTF-8, which JSON cannot contain.
func validUTF8(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

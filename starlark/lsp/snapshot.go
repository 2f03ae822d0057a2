package lsp

import (
	"context"
	"errors"

	"github.com/sourcegraph/jsonrpc2"

	"torchx/starlark/analysis"
)

// snapshot is a document, and all that are open beside it, at one moment.
type snapshot struct {
	*server
	*document
	enc  encoding
	open map[string]*analysis.File // by the source's key, and by the path on disk
}

var _ analysis.Loader = (*snapshot)(nil)

// snapshot takes one of a document; nil if that is not open.
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

var errUnsaved = errors.New("a file that is not on disk cannot load others: save it first")

// Load implements analysis.Loader: an open document counts before its file.
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
		// It is edited as a file of another workspace, but loads as one of this library.
		return analysis.New(file.Name, source, open.Text, nil), nil
	}
	return file, err
}

// Entries implements analysis.Loader. What cannot be read has no entries.
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

// atPosition answers a request about a place of a document.
func atPosition[T any](s *server, r *jsonrpc2.Request, answer func(*snapshot, int) (T, error)) (answerFunc, error) {
	params, err := decode[positionParams](r.Params)
	if err != nil {
		return nil, err
	}
	snap := s.snapshot(params.TextDocument.URI)
	if snap == nil {
		return nil, failure(jsonrpc2.CodeInvalidParams, "%s is not open", params.TextDocument.URI)
	}
	return func(context.Context) (any, error) {
		return answer(snap, snap.enc.offset(&snap.file.Lines, params.Position))
	}, nil
}

// ofDocument answers a request about a whole document.
func ofDocument[T any](s *server, r *jsonrpc2.Request, answer func(*snapshot) (T, error)) (answerFunc, error) {
	params, err := decode[documentParams](r.Params)
	if err != nil {
		return nil, err
	}
	snap := s.snapshot(params.TextDocument.URI)
	if snap == nil {
		return nil, failure(jsonrpc2.CodeInvalidParams, "%s is not open", params.TextDocument.URI)
	}
	return func(context.Context) (any, error) { return answer(snap) }, nil
}

// extent is the range of offsets in the snapshot's document.
func (s *snapshot) extent(from, to int) textRange {
	return s.enc.textRange(&s.file.Lines, from, to)
}

package lsp

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"torchx/starlark/analysis"
)

// document is an open file with the client's text. It is immutable: a new text is a new document.
type document struct {
	uri     string
	version int
	file    *analysis.File
	// readOnly is set for files of a library and built-in files.
	readOnly bool
}

// documents are the open documents.
type documents struct {
	mu    sync.Mutex
	byURI map[string]*document
	// timers start the diagnostics of documents.
	timers map[string]*time.Timer
}

func newDocuments() *documents {
	return &documents{byURI: map[string]*document{}, timers: map[string]*time.Timer{}}
}

func (d *documents) get(uri string) *document {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.byURI[uri]
}

// all lists the open documents by URI.
func (d *documents) all() []*document {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.SortedFunc(maps.Values(d.byURI), func(a, b *document) int { return strings.Compare(a.uri, b.uri) })
}

func (d *documents) each(do func(uri string)) {
	for _, doc := range d.all() {
		do(doc.uri)
	}
}

func (d *documents) put(doc *document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.byURI[doc.uri] = doc
}

func (d *documents) remove(uri string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.byURI, uri)
	if t := d.timers[uri]; t != nil {
		t.Stop()
		delete(d.timers, uri)
	}
}

// debounce calls do after a pause without another call for the document.
func (d *documents) debounce(uri string, do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.timers[uri]; t != nil {
		t.Stop()
	}
	d.timers[uri] = time.AfterFunc(diagnoseAfter, do)
}

func (s *server) didOpen(r *jsonrpc2.Request) error {
	params, err := decode[openParams](r.Params)
	if err != nil {
		return err
	}
	doc := params.TextDocument
	s.update(doc.URI, doc.Version, validUTF8(doc.Text), nil)
	return nil
}

func (s *server) didChange(r *jsonrpc2.Request) error {
	params, err := decode[changeParams](r.Params)
	if err != nil {
		return err
	}
	doc := s.documents.get(params.TextDocument.URI)
	if doc == nil {
		return failure(jsonrpc2.CodeInvalidParams, "%s is not open", params.TextDocument.URI)
	}
	text := doc.file.Text
	for _, c := range params.ContentChanges {
		text = s.encoding().apply(text, c)
	}
	s.update(doc.uri, params.TextDocument.Version, text, doc.file)
	return nil
}

func (s *server) didClose(r *jsonrpc2.Request) error {
	params, err := decode[requestParams](r.Params)
	if err != nil {
		return err
	}
	s.documents.remove(params.TextDocument.URI)
	s.publish(diagnosticsParams{URI: params.TextDocument.URI, Diagnostics: []diagnostic{}})
	s.documents.each(s.diagnose) // other files use the file on disk again
	return nil
}

// update sets the text of a document and diagnoses it, and all other documents if its exports
// changed.
func (s *server) update(uri string, version int, text string, before *analysis.File) {
	source, readOnly := s.files.sourceOf(uri, s.root)
	name := uri
	if source != nil {
		name = source.Display()
	}
	file := analysis.New(name, source, text, before)
	s.documents.put(&document{uri: uri, version: version, file: file, readOnly: readOnly})
	if before == nil || exportsText(before) != exportsText(file) {
		s.documents.each(s.diagnose)
		return
	}
	s.diagnose(uri)
}

// exportsText returns a text that changes when the exports of a file change.
func exportsText(f *analysis.File) string {
	var b strings.Builder
	for _, sym := range f.Globals() {
		b.WriteString(sym.Label + sym.Signature + "\n")
	}
	return b.String()
}

func (s *server) encoding() encoding { return encoding{s.utf8} }

// Package lsp is the language server of Starlark component files: the Language Server
// Protocol, version 3.17, on one connection.
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
//
//	Serve → server (messages in order) → documents (open) ─► snapshot ─► answer
//	                                     files (on disk)  ─┘
//
// It evaluates nothing, so an endless loop in a file is harmless. Changes of documents are
// applied in order; requests are answered in parallel from a snapshot of the documents.
// An unsaved document takes precedence over its file, also for files that load it.
package lsp

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log"
	"slices"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Config connects the server to its host.
type Config struct {
	// Dir is the folder that paths in messages are relative to.
	Dir string
	// Builtins holds the files of @torchx//.
	Builtins fs.FS
	// Library and Libraries are those of a workspace; see interp.Config. nil: there are none.
	Library   func(root, name string) (fs.FS, error)
	Libraries func(root string) []string
	// Resources are the names of resources that the project with a root adds; nil: none.
	Resources func(root string) []string
	// Folder returns where the files of a library can be edited; nil or false: they cannot.
	Folder func(root, name string) (string, bool)
	// Extracted is where files of @torchx// and libraries are written for an editor; "": they are
	// not shown.
	Extracted string
	// Version is the program's.
	Version string
	// Alive reports whether a process exists; the server ends with its client. nil: only the
	// connection counts.
	Alive func(pid int) bool
	// Log is told what goes wrong, a line at a time.
	Log func(line string)
}

// ErrNoShutdown says that the client went away without an orderly end.
var ErrNoShutdown = errors.New("the client went away without a shutdown")

// Serve talks to a client until it says exit, disconnects, or ctx ends. The error is ErrNoShutdown
// unless the client sent shutdown.
func Serve(ctx context.Context, in io.Reader, out io.Writer, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newServer(ctx, c)
	stream := loggedStream{jsonrpc2.NewBufferedStream(pipes{in, out}, jsonrpc2.VSCodeObjectCodec{}), c.Log}
	lines := log.New(logWriter{c.Log}, "", 0)
	s.conn = jsonrpc2.NewConn(ctx, stream, s, jsonrpc2.SetLogger(lines))
	close(s.ready)
	select {
	case <-s.conn.DisconnectNotify():
	case <-s.exit:
	case <-ctx.Done():
	}
	if s.state.Load() != stateShutdown {
		return ErrNoShutdown
	}
	return nil
}

// loggedStream logs malformed messages before the connection ends: the connection logs them too late.
type loggedStream struct {
	jsonrpc2.ObjectStream
	log func(string)
}

// ReadObject returns io.EOF for every error, which nobody tells of again.
func (r loggedStream) ReadObject(v any) error {
	err := r.ObjectStream.ReadObject(v)
	if err == nil {
		return nil
	}
	if r.log != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		r.log("no message of the protocol: " + err.Error())
	}
	return io.EOF
}

// pipes are the two directions of a connection. They belong to the caller.
type pipes struct {
	io.Reader
	io.Writer
}

// Close leaves both open.
func (pipes) Close() error { return nil }

// logWriter passes lines on to a function.
type logWriter struct{ log func(string) }

func (w logWriter) Write(p []byte) (int, error) {
	if w.log != nil {
		w.log(string(p))
	}
	return len(p), nil
}

// aliveEvery is how often the client's process is looked for.
const aliveEvery = 2 * time.Second

// watchClient ends the server with the client's process, even if another process holds the pipe
// open.
func (s *server) watchClient(pid int) {
	if pid <= 0 || s.config.Alive == nil {
		return
	}
	tick := time.NewTicker(aliveEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			if !s.config.Alive(pid) {
				s.end()
				return
			}
		}
	}
}

// initialize takes in what the client can do, and says what the server can.
func (s *server) initialize(r *jsonrpc2.Request) (any, error) {
	params, err := decode[initializeParams](r.Params)
	if err != nil {
		return nil, err
	}
	s.client = params.Capabilities
	s.utf8 = slices.Contains(s.client.General.PositionEncodings, "utf-8")
	root := params.RootURI
	if len(params.WorkspaceFolders) > 0 {
		root = params.WorkspaceFolders[0].URI
	}
	s.root, _ = pathOf(root)
	s.state.Store(stateRunning)
	go s.watchClient(params.ProcessID)
	encoding := "utf-16"
	if s.utf8 {
		encoding = "utf-8"
	}
	return map[string]any{
		"serverInfo": map[string]string{"name": "torchx", "version": s.config.Version},
		"capabilities": map[string]any{
			"positionEncoding": encoding,
			"textDocumentSync": map[string]any{"openClose": true, "change": 2, "save": true}, // 2: incremental
			"completionProvider": map[string]any{
				"triggerCharacters": []string{".", `"`, "/", "@"},
			},
			"hoverProvider":              true,
			"signatureHelpProvider":      map[string]any{"triggerCharacters": []string{"(", ","}},
			"definitionProvider":         true,
			"documentSymbolProvider":     true,
			"documentFormattingProvider": true,
			"codeActionProvider":         map[string]any{"codeActionKinds": []string{"quickfix"}},
		},
	}, nil
}

// watchFiles asks the client to tell when Starlark files change on disk.
func (s *server) watchFiles() {
	if !s.client.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		return
	}
	registration := map[string]any{"registrations": []any{map[string]any{
		"id": "star-files", "method": "workspace/didChangeWatchedFiles",
		"registerOptions": map[string]any{"watchers": []any{map[string]any{"globPattern": "**/*.star"}}},
	}}}
	// Its answer is read by the goroutine that is here now.
	go func() {
		if err := s.conn.Call(s.ctx, "client/registerCapability", registration, nil); err != nil && s.ctx.Err() == nil {
			s.log("the client does not watch files: %v", err)
		}
	}()
}

// markup writes Markdown in the form that the client shows.
func (s *server) markup(text string) markupContent {
	formats := s.client.TextDocument.Hover.ContentFormat
	if len(formats) > 0 && !slices.Contains(formats, "markdown") {
		return markupContent{"plaintext", text}
	}
	return markupContent{"markdown", text}
}

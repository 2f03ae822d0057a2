// Package lsp is the language server of Starlark component files: the Language Server
// Protocol, version 3.17, on one connection.
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/
//
//	Serve → server (messages in order) → documents (open) ─► snapshot ─► answer
//	                                     files (on disk)  ─┘
//
// It does not evaluate files, so an endless loop in a file is harmless. Changes of documents
// are applied in order; requests are answered in parallel, from a snapshot of the documents.
// An unsaved document takes precedence over its file, also for files that load it.
package lsp

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// Config configures a server.
type Config struct {
	// Dir is the folder that paths in messages are relative to.
	Dir string
	// Builtins holds the files of @torchx//.
	Builtins fs.FS
	// Library and Libraries open and list the libraries of a workspace (see interp.Config); nil
	// means none.
	Library   func(root, name string) (fs.FS, error)
	Libraries func(root string) []string
	// Resources returns the named resources of the project with that root; nil means none.
	Resources func(root string) []string
	// Folder returns the folder where files of a library can be edited; nil or false means none.
	Folder func(root, name string) (string, bool)
	// Extracted is the folder to which files of @torchx// and libraries are written, so that an
	// editor can open them; "" means that they cannot be opened.
	Extracted string
	// Version is the program's version.
	Version string
	// Alive reports whether a process exists; the server ends with its client. If it is nil, the
	// server ends with the connection.
	Alive func(pid int) bool
	// Log receives errors, one line at a time.
	Log func(line string)
}

// ErrNoShutdown says that the client disconnected without a shutdown.
var ErrNoShutdown = errors.New("the client disconnected without a shutdown")

// Serve serves a client until it sends exit, disconnects, or ctx ends. The error is ErrNoShutdown
// unless the client sent shutdown.
func Serve(ctx context.Context, in io.Reader, out io.Writer, c Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := newServer(ctx, c)
	stream := newStream(in, out, s.Printf)
	s.conn = jsonrpc2.NewConn(ctx, stream, s, jsonrpc2.SetLogger(s))
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

// aliveEvery is the interval of checks for the client's process.
const aliveEvery = 2 * time.Second

// watchClient ends the server when the client's process ends, even if another process keeps the
// pipe open.
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

// initialize stores the client's capabilities and returns the server's.
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

// watchFiles asks the client to report changes of Starlark files.
func (s *server) watchFiles() {
	if !s.client.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		return
	}
	registration := map[string]any{"registrations": []any{map[string]any{
		"id": "star-files", "method": "workspace/didChangeWatchedFiles",
		"registerOptions": map[string]any{"watchers": []any{map[string]any{"globPattern": "**/*.star"}}},
	}}}
	// Wait in another goroutine, since this one reads the answer.
	go func() {
		if err := s.conn.Call(s.ctx, "client/registerCapability", registration, nil); err != nil &&
			s.ctx.Err() == nil {
			s.Printf("the client does not watch files: %v", err)
		}
	}()
}

// markup converts Markdown to a form that the client supports.
func (s *server) markup(text string) markupContent {
	formats := s.client.TextDocument.Hover.ContentFormat
	if len(formats) > 0 && !slices.Contains(formats, "markdown") {
		return markupContent{"plaintext", text}
	}
	return markupContent{"markdown", text}
}

package lsp

import (
	"slices"

	"github.com/sourcegraph/jsonrpc2"
)

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

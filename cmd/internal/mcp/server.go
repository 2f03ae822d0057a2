package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"torchx/cmd/internal/program"
)

// versions are those of the protocol that the server speaks, the newest first.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// maxMessage bounds a message, in bytes.
const maxMessage = 4 << 20

// Codes of errors of JSON-RPC, and of the protocol.
const (
	codeParse     = -32700
	codeRequest   = -32600
	codeMethod    = -32601
	codeParams    = -32602
	codeNoContent = -32002
)

// rpcError is the failure of a request.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

func failure(code int, format string, args ...any) error {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// message is a request, or a notification if it has no ID.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
}

type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// server is one connection.
type server struct {
	program *program.Factory
	dir     string // that commands run in
	tools   []*tool
	busy    chan struct{} // one element for each running command

	out     sync.Mutex // held while a response is written
	answers sync.WaitGroup
	mu      sync.Mutex // guards pending
	pending map[string]context.CancelFunc
}

// maxBusy bounds the commands that run at the same time.
const maxBusy = 8

func newServer(f *program.Factory, dir string, readOnly bool) *server {
	s := &server{program: f, dir: dir, busy: make(chan struct{}, maxBusy), pending: map[string]context.CancelFunc{}}
	s.tools = slices.DeleteFunc(allTools(), func(t *tool) bool { return readOnly && t.changes })
	return s
}

// serve answers messages until the input ends, and all requests that it has.
func (s *server) serve(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxMessage)
	write := func(r response) {
		s.out.Lock()
		defer s.out.Unlock()
		_ = json.NewEncoder(out).Encode(r) // the client may be gone
	}
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			write(response{"2.0", json.RawMessage("null"), nil, &rpcError{codeParse, "the message is not a JSON object: " + err.Error()}})
			continue
		}
		s.handle(ctx, m, write)
	}
	s.answers.Wait()
	if err := lines.Err(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("read a message from stdin: %w (at most %d bytes)", err, maxMessage)
	}
	return context.Cause(ctx)
}

// handle answers a message in the background.
func (s *server) handle(ctx context.Context, m message, write func(response)) {
	if len(m.ID) == 0 || m.Method == "" { // a notification, or a response
		s.notified(m)
		return
	}
	id := string(m.ID)
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.pending[id] = cancel
	s.mu.Unlock()
	s.answers.Go(func() {
		defer func() {
			cancel()
			s.mu.Lock()
			delete(s.pending, id)
			s.mu.Unlock()
		}()
		result, err := s.answer(ctx, m)
		if ctx.Err() != nil {
			return // the client does not wait for it
		}
		var known *rpcError
		if err != nil && !errors.As(err, &known) {
			known = &rpcError{codeRequest, err.Error()}
		}
		write(response{"2.0", m.ID, result, known})
	})
}

// notified handles a notification. Only the end of a request is of interest.
func (s *server) notified(m message) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if m.Method != "notifications/cancelled" || json.Unmarshal(m.Params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.pending[string(p.RequestID)]; cancel != nil {
		cancel()
	}
}

func (s *server) answer(ctx context.Context, m message) (any, error) {
	switch m.Method {
	case "initialize":
		return s.initialize(m.Params)
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		return s.listTools()
	case "tools/call":
		return s.callTool(ctx, m.Params)
	case "resources/list":
		return s.listResources(ctx)
	case "resources/templates/list":
		return map[string]any{"resourceTemplates": templates}, nil
	case "resources/read":
		return s.readResource(ctx, m.Params)
	}
	return nil, failure(codeMethod, "unknown method %q", m.Method)
}

const instructions = `torchx runs components (Starlark functions) as apps on this machine, Docker, Slurm and Kubernetes.
Find a component with list_components and its arguments with explain_component. Check a run with dry_run, start it with run, then wait; read status and logs if it failed.
A handle is BACKEND://torchx/APP_ID; an app ID, a unique prefix of it, and - for the most recent app work, too.
To write a component, read_docs topics "language" and "writing-components" first.`

func (s *server) initialize(params json.RawMessage) (any, error) {
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, failure(codeParams, "initialize: %v", err)
	}
	version := p.ProtocolVersion
	if !slices.Contains(versions, version) {
		version = versions[0]
	}
	return map[string]any{
		"protocolVersion": version,
		"capabilities":    map[string]any{"tools": struct{}{}, "resources": struct{}{}},
		"serverInfo":      map[string]any{"name": "torchx", "title": "torchx", "version": program.Version},
		"instructions":    instructions,
	}, nil
}

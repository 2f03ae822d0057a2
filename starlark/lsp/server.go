package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"
)

type state = int32

// The states of a connection, in order.
const (
	stateNew state = iota
	stateRunning
	stateShutdown
)

// server is one connection.
type server struct {
	ctx    context.Context
	config Config
	conn   *jsonrpc2.Conn
	ready  chan struct{} // closed once conn is set
	exit   chan struct{}
	ending sync.Once
	state  atomic.Int32

	documents *documents
	files     *files
	clientState
	answering
}

// clientState is set by initialize, before it is read.
type clientState struct {
	client clientCapabilities
	root   string // the folder that the client opened, or ""
	utf8   bool   // positions are in bytes
}

// answering is the state of running requests.
type answering struct {
	busy    chan struct{} // one element for each running answer
	answers sync.WaitGroup
	mu      sync.Mutex // guards pending
	pending map[jsonrpc2.ID]context.CancelFunc
}

func newServer(ctx context.Context, c Config) *server {
	s := &server{
		ctx: ctx, config: c, ready: make(chan struct{}), exit: make(chan struct{}),
		answering: answering{busy: make(chan struct{}, runtime.NumCPU()), pending: map[jsonrpc2.ID]context.CancelFunc{}},
	}
	s.files = newFiles(c)
	s.documents = newDocuments()
	return s
}

// end ends Serve.
func (s *server) end() { s.ending.Do(func() { close(s.exit) }) }

// failure returns an error for the client.
func failure(code int64, format string, args ...any) error {
	return &jsonrpc2.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func decode[T any](raw *json.RawMessage) (T, error) {
	var v T
	if raw == nil {
		return v, failure(jsonrpc2.CodeInvalidParams, "missing parameters")
	}
	if err := json.Unmarshal(*raw, &v); err != nil {
		return v, failure(jsonrpc2.CodeInvalidParams, "cannot read the parameters: %v", err)
	}
	return v, nil
}

// Handle implements jsonrpc2.Handler. It handles messages in order, and returns before requests are
// answered.
func (s *server) Handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
	<-s.ready
	defer s.recoverPanic(r)
	if r.Notif {
		if err := s.notification(r); err != nil {
			s.Printf("%s: %v", r.Method, err)
		}
		return
	}
	if answer, err := s.lifecycle(r); answer != nil || err != nil {
		s.reply(r.ID, answer, err)
		return
	}
	answer, err := s.request(r)
	if err != nil {
		s.reply(r.ID, nil, err)
		return
	}
	s.inBackground(r, answer)
}

// lifecycle answers initialize and shutdown, and rejects requests out of order. For other
// requests it returns nil, nil.
func (s *server) lifecycle(r *jsonrpc2.Request) (any, error) {
	switch current := s.state.Load(); {
	case r.Method == "initialize" && current == stateNew:
		return s.initialize(r)
	case current == stateNew:
		return nil, failure(codeNotInitialized, "%s received before initialize", r.Method)
	case r.Method == "initialize", current == stateShutdown:
		return nil, failure(jsonrpc2.CodeInvalidRequest,
			"%s is not allowed in this state", r.Method)
	case r.Method == "shutdown":
		s.state.Store(stateShutdown)
		s.answers.Wait() // pending answers are sent even if the client does not wait
		return json.RawMessage("null"), nil
	}
	return nil, nil
}

// notification handles a message that has no answer.
func (s *server) notification(r *jsonrpc2.Request) error {
	if r.Method == "exit" {
		s.end()
		return nil
	}
	if s.state.Load() != stateRunning {
		return nil
	}
	switch r.Method {
	case "initialized":
		s.watchFiles()
	case "$/cancelRequest":
		return s.cancel(r)
	case "textDocument/didOpen":
		return s.didOpen(r)
	case "textDocument/didChange":
		return s.didChange(r)
	case "textDocument/didClose":
		return s.didClose(r)
	case "textDocument/didSave", "workspace/didChangeWatchedFiles":
		s.files.forget()
		s.documents.each(s.diagnose)
	}
	return nil
}

// answerFunc answers one request.
type answerFunc = func() (any, error)

// requests returns the handlers of requests about a document, by method.
func requests() map[string]func(*snapshot, requestParams) (any, error) {
	return map[string]func(*snapshot, requestParams) (any, error){
		"textDocument/completion":     atPosition((*snapshot).completion),
		"textDocument/hover":          atPosition((*snapshot).hover),
		"textDocument/signatureHelp":  atPosition((*snapshot).signature),
		"textDocument/definition":     atPosition((*snapshot).definition),
		"textDocument/documentSymbol": func(s *snapshot, _ requestParams) (any, error) { return s.symbols(), nil },
		"textDocument/formatting":     func(s *snapshot, _ requestParams) (any, error) { return s.formatting() },
		"textDocument/codeAction":     func(s *snapshot, p requestParams) (any, error) { return s.fixes(p.Range), nil },
	}
}

// atPosition adapts a handler that needs only an offset.
func atPosition[T any](
	answer func(*snapshot, int) (T, error),
) func(*snapshot, requestParams) (any, error) {
	return func(s *snapshot, p requestParams) (any, error) {
		return answer(s, s.enc.offset(&s.file.Lines, p.Position))
	}
}

// request prepares the answer to a request from a snapshot of the documents.
func (s *server) request(r *jsonrpc2.Request) (answerFunc, error) {
	answer := requests()[r.Method]
	if answer == nil {
		return nil, failure(jsonrpc2.CodeMethodNotFound, "method %s is not supported", r.Method)
	}
	params, err := decode[requestParams](r.Params)
	if err != nil {
		return nil, err
	}
	snap := s.snapshot(params.TextDocument.URI)
	if snap == nil {
		return nil, failure(jsonrpc2.CodeInvalidParams, "%s is not open", params.TextDocument.URI)
	}
	return func() (any, error) { return answer(snap, params) }, nil
}

// inBackground answers a request unless the client cancels it.
func (s *server) inBackground(r *jsonrpc2.Request, answer answerFunc) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.mu.Lock()
	s.pending[r.ID] = cancel
	s.mu.Unlock()
	s.answers.Go(func() {
		defer func() {
			s.mu.Lock()
			delete(s.pending, r.ID)
			s.mu.Unlock()
			cancel()
		}()
		defer s.recoverPanic(r)
		select {
		case s.busy <- struct{}{}:
			defer func() { <-s.busy }()
		case <-ctx.Done():
		}
		var result any
		err := ctx.Err()
		if err == nil {
			result, err = answer()
		}
		if ctx.Err() != nil {
			err = failure(codeCanceled, "%s was canceled", r.Method)
		}
		s.reply(r.ID, result, err)
	})
}

// cancel cancels a pending request.
func (s *server) cancel(r *jsonrpc2.Request) error {
	params, err := decode[cancelParams](r.Params)
	if err != nil {
		return err
	}
	var id jsonrpc2.ID
	if err := json.Unmarshal(params.ID, &id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.pending[id]; cancel != nil {
		cancel()
	}
	return nil
}

func (s *server) reply(id jsonrpc2.ID, result any, err error) {
	if err == nil {
		err = s.conn.Reply(s.ctx, id, result)
	} else {
		var known *jsonrpc2.Error
		if !errors.As(err, &known) {
			known = &jsonrpc2.Error{Code: codeRequestFailed, Message: err.Error()}
		}
		err = s.conn.ReplyWithError(s.ctx, id, known)
	}
	if err != nil && !errors.Is(err, jsonrpc2.ErrClosed) {
		s.Printf("%v", err)
	}
}

// recoverPanic keeps the server alive after a panic.
func (s *server) recoverPanic(r *jsonrpc2.Request) {
	reason := recover()
	if reason == nil {
		return
	}
	s.Printf("internal error in %s: %v\n%s", r.Method, reason, debug.Stack())
	if !r.Notif {
		s.reply(r.ID, nil, failure(jsonrpc2.CodeInternalError, "internal error: %v", reason))
	}
}

// Printf implements jsonrpc2.Logger.
func (s *server) Printf(format string, args ...any) {
	if s.config.Log != nil {
		s.config.Log(fmt.Sprintf(format, args...))
	}
}

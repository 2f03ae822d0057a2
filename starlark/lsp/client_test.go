package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"torchx/components"
)

// patience is how long a test waits for a message.
const patience = 20 * time.Second

// client is the editor's side of a connection over two real pipes.
type client struct {
	t    *testing.T
	dir  string
	out  io.WriteCloser
	in   *bufio.Reader
	ends chan error // the result of Serve
	id   int

	mu       sync.Mutex
	news     *sync.Cond
	answers  map[string]message
	problems map[string]diagnosticsParams
	asked    []string // methods that the server called
	logged   []string
}

// message is any message of the protocol.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// connect starts a server for a folder with these files.
func connect(t *testing.T, files map[string]string, change func(*Config)) *client {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	serverIn, clientOut, err := os.Pipe()
	must(t, err)
	clientIn, serverOut, err := os.Pipe()
	must(t, err)
	c := &client{
		t: t, dir: dir, out: clientOut, in: bufio.NewReader(clientIn), ends: make(chan error, 1),
		answers: map[string]message{}, problems: map[string]diagnosticsParams{},
	}
	c.news = sync.NewCond(&c.mu)
	config := Config{
		Dir: dir, Builtins: components.FS, Extracted: filepath.Join(dir, "home", "sources"), Version: "test",
		Log: func(line string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.logged = append(c.logged, line)
		},
	}
	if change != nil {
		change(&config)
	}
	go func() {
		c.ends <- Serve(context.Background(), serverIn, serverOut, config)
		serverOut.Close()
	}()
	go c.read()
	t.Cleanup(func() { clientOut.Close(); serverIn.Close(); clientIn.Close() })
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// read receives all messages of the server; an invalid message fails the test.
func (c *client) read() {
	for {
		body, err := c.frame()
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(body, &m); err != nil || m.JSONRPC != "2.0" {
			c.t.Errorf("invalid message: %q", body)
			return
		}
		c.take(m)
	}
}

func (c *client) frame() ([]byte, error) {
	length := 0
	for {
		line, err := c.in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line == "\r\n" {
			break
		}
		value, ok := strings.CutPrefix(strings.TrimSpace(line), "Content-Length: ")
		if !ok {
			c.t.Errorf("the server wrote %q to its stdout", line)
			return nil, io.ErrUnexpectedEOF
		}
		if length, err = strconv.Atoi(value); err != nil {
			return nil, err
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(c.in, body)
	return body, err
}

func (c *client) take(m message) {
	c.mu.Lock()
	switch {
	case m.Method == "textDocument/publishDiagnostics":
		var p diagnosticsParams
		if err := json.Unmarshal(m.Params, &p); err != nil {
			c.t.Error(err)
		}
		c.problems[p.URI] = p
	case m.Method != "":
		c.asked = append(c.asked, m.Method)
	default:
		c.answers[string(m.ID)] = m
	}
	c.mu.Unlock()
	c.news.Broadcast()
	if m.Method != "" && m.ID != nil {
		c.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": nil})
	}
}

// await waits until holds returns true for the received messages.
func (c *client) await(what string, holds func() bool) {
	c.t.Helper()
	stop := time.AfterFunc(patience, c.news.Broadcast)
	defer stop.Stop()
	deadline := time.Now().Add(patience)
	c.mu.Lock()
	defer c.mu.Unlock()
	for !holds() {
		if time.Now().After(deadline) {
			c.t.Fatalf("no %s; problems %+v, log %q", what, c.problems, c.logged)
		}
		c.news.Wait()
	}
}

func (c *client) send(v any) {
	body, err := json.Marshal(v)
	if err == nil {
		_, err = fmt.Fprintf(c.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	if err != nil {
		c.t.Logf("send: %v", err)
	}
}

func (c *client) notify(method string, params any) {
	c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// begin sends a request and returns its id.
func (c *client) begin(method string, params any) string {
	c.id++
	c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	return strconv.Itoa(c.id)
}

// call sends a request and returns the answer.
func (c *client) call(method string, params any) message {
	c.t.Helper()
	id := c.begin(method, params)
	var m message
	c.await(method, func() bool {
		var ok bool
		m, ok = c.answers[id]
		return ok
	})
	return m
}

// result sends a request and reads its result.
func result[T any](c *client, method string, params any) T {
	c.t.Helper()
	m := c.call(method, params)
	var v T
	if m.Error != nil {
		c.t.Fatalf("%s: %+v", method, m.Error)
	}
	must(c.t, json.Unmarshal(m.Result, &v))
	return v
}

// initialize initializes a connection for a client with these position encodings.
func (c *client) initialize(encodings ...string) map[string]any {
	c.t.Helper()
	got := result[map[string]any](c, "initialize", map[string]any{
		"processId": nil, "rootUri": uriOf(c.dir),
		"capabilities": map[string]any{
			"general":      map[string]any{"positionEncodings": encodings},
			"workspace":    map[string]any{"didChangeWatchedFiles": map[string]any{"dynamicRegistration": true}},
			"textDocument": map[string]any{"documentSymbol": map[string]any{"hierarchicalDocumentSymbolSupport": true}},
		},
	})
	c.notify("initialized", map[string]any{})
	return got["capabilities"].(map[string]any)
}

func (c *client) uri(name string) string { return uriOf(filepath.Join(c.dir, name)) }

// open opens a document, without the cursor "|", and returns the position of the cursor.
func (c *client) open(name, text string) position {
	text, at := cut(text)
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": c.uri(name), "languageId": "starlark", "version": 1, "text": text,
	}})
	return at
}

// cut removes the cursor from a text; columns count UTF-16 units.
func cut(text string) (string, position) {
	before, after, _ := strings.Cut(text, "|")
	line := before[strings.LastIndexByte(before, '\n')+1:]
	units := 0
	for _, r := range line {
		units += len(utf16.AppendRune(nil, r))
	}
	return before + after, position{strings.Count(before, "\n"), units}
}

// change replaces the whole text of a document.
func (c *client) change(name string, version int, text string) position {
	text, at := cut(text)
	c.edit(name, version, contentChange{Text: text})
	return at
}

func (c *client) edit(name string, version int, changes ...contentChange) {
	c.notify("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": c.uri(name), "version": version}, "contentChanges": changes,
	})
}

func (c *client) at(name string, p position) requestParams {
	return requestParams{TextDocument: textDocument{URI: c.uri(name)}, Position: p}
}

// complete lists the labels of the completions at a position.
func (c *client) complete(name string, p position) []string {
	c.t.Helper()
	list := result[completionList](c, "textDocument/completion", c.at(name, p))
	labels := make([]string, len(list.Items))
	for i, item := range list.Items {
		labels[i] = item.Label
	}
	return labels
}

// offers fails the test unless all words are offered, and no word marked with "!".
func (c *client) offers(name string, p position, words ...string) {
	c.t.Helper()
	have := c.complete(name, p)
	for _, w := range words {
		plain, not := strings.CutPrefix(w, "!")
		if slices.Contains(have, plain) == not {
			c.t.Errorf("%s: %q among %q", name, w, have)
		}
	}
}

// diagnosed waits until a document has exactly the diagnostics that contain these texts.
func (c *client) diagnosed(name string, texts ...string) []diagnostic {
	c.t.Helper()
	var found []diagnostic
	c.await(fmt.Sprintf("diagnostics %q of %s", texts, name), func() bool {
		p, ok := c.problems[c.uri(name)]
		if !ok || len(p.Diagnostics) != len(texts) {
			return false
		}
		found = p.Diagnostics
		for i, text := range texts {
			if !strings.Contains(found[i].Message, text) {
				return false
			}
		}
		return true
	})
	return found
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"torchx/components"
)

// languageServer benchmarks a keystroke in an editor: a change of the document and a
// completion after it, in a file of 2,000 lines whose last one does not parse.
func (w *environment) languageServer(runs int) []bench {
	return []bench{{
		name: "lsp: a key and completion", goal: "< 20 ms", floorName: "the same bytes through cat", runs: 10 * runs,
		prepare: func() (side, side, error) {
			server, err := w.dialogue(w.bin, "lsp")
			if err != nil {
				return nil, nil, err
			}
			echo, err := w.dialogue("cat")
			if err != nil {
				return nil, nil, err
			}
			e := &editor{dialogue: server, uri: "file://" + filepath.Join(w.dir, "bench.star")}
			if err := e.begin(); err != nil {
				return nil, nil, err
			}
			return timed(e.key), timed(func() error { return echo.echo(e.sent) }), nil
		},
	}}
}

// dialogue is a process that communicates over pipes. It ends with its stdin.
type dialogue struct {
	in  io.WriteCloser
	out *bufio.Reader
}

func (w *environment) dialogue(name string, args ...string) (*dialogue, error) {
	cmd := exec.CommandContext(w.ctx, name, args...)
	cmd.Env = w.cmd("").Env
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &dialogue{in, bufio.NewReader(out)}, cmd.Start()
}

// echo writes a text and reads back as many bytes.
func (d *dialogue) echo(text string) error {
	if _, err := io.WriteString(d.in, text); err != nil {
		return err
	}
	_, err := io.CopyN(io.Discard, d.out, int64(len(text)))
	return err
}

// editor is a client of a language server.
type editor struct {
	*dialogue
	uri    string
	lines  int
	column int
	id     int
	sent   string // by the last key
}

// begin opens the document.
func (e *editor) begin() error {
	source, err := components.FS.ReadFile("dist.star")
	if err != nil {
		return err
	}
	text := strings.Repeat(string(source), 2000/strings.Count(string(source), "\n")+1) + "x = specs."
	e.lines = strings.Count(text, "\n")
	e.column = len("x = specs.")
	if err := e.request("initialize", map[string]any{"capabilities": map[string]any{}}); err != nil {
		return err
	}
	e.sent = ""
	e.notify("initialized", map[string]any{})
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": e.uri, "version": 1, "text": text}})
	_, err = io.WriteString(e.in, e.sent)
	return err
}

// key types or deletes the "R" of specs.R and requests a completion.
func (e *editor) key() error {
	e.sent = ""
	at := map[string]int{"line": e.lines, "character": e.column}
	text, end := "R", e.column
	if e.id%2 == 0 {
		text, end = "", e.column+1
	}
	change := map[string]any{"text": text, "range": map[string]any{"start": at, "end": map[string]int{"line": e.lines, "character": end}}}
	e.notify("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": e.uri, "version": e.id + 2}, "contentChanges": []any{change},
	})
	return e.request("textDocument/completion",
		map[string]any{"textDocument": map[string]string{"uri": e.uri}, "position": at})
}

// notify adds a notification to the messages to send.
func (e *editor) notify(method string, params any) {
	e.add(map[string]any{"method": method, "params": params})
}

func (e *editor) add(message map[string]any) {
	message["jsonrpc"] = "2.0"
	body, err := json.Marshal(message)
	if err != nil {
		panic(err) // maps of strings and numbers can be encoded
	}
	e.sent += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// request sends the prepared messages and a request, and waits for the response.
func (e *editor) request(method string, params any) error {
	e.id++
	e.add(map[string]any{"id": e.id, "method": method, "params": params})
	if _, err := io.WriteString(e.in, e.sent); err != nil {
		return err
	}
	for {
		answer, err := e.read()
		if err != nil || answer == e.id {
			return err
		}
	}
}

// read reads one message and returns its ID, 0 for a notification.
func (e *editor) read() (id int, err error) {
	var length int
	if _, err := fmt.Fscanf(e.out, "Content-Length: %d\r\n\r\n", &length); err != nil {
		return 0, err
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(e.out, body); err != nil {
		return 0, err
	}
	var m struct {
		ID    int
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return 0, err
	}
	if m.Error != nil {
		return m.ID, fmt.Errorf("the server returned an error: %s", m.Error.Message)
	}
	return m.ID, nil
}

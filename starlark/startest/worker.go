package startest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"go.starlark.net/starlark"

	"torchx/starlark/component"
	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
)

// Job is the input of a worker.
type Job struct {
	Options Options `json:"options"`
	Tasks   []Task  `json:"tasks"`
}

// exitStuck is the exit code of a worker whose test cannot be stopped.
const exitStuck = 3

// flushEvery is how long a message may wait to be sent with others, to save writes at 10,000
// tests a second.
const flushEvery = 20 * time.Millisecond

// Work runs a worker process: it reads a Job as JSON, runs it and writes Messages, one per line.
// exit ends the process if a test cannot be stopped. Errors are those of reading and writing.
func Work(ctx context.Context, h Host, in io.Reader, out io.Writer, exit func(code int)) error {
	var job Job
	if err := json.NewDecoder(in).Decode(&job); err != nil {
		return fmt.Errorf("read the job of a test worker: %w", err)
	}
	w := &messageWriter{out: bufio.NewWriterSize(out, 1<<16), eager: job.Options.Careful}
	w.encoder = json.NewEncoder(w.out)
	w.encoder.SetEscapeHTML(false)
	r, err := NewRunner(h, job.Options, w.write)
	if err != nil {
		return err
	}
	r.stuck = func() {
		w.flush()
		exit(exitStuck)
	}
	done := make(chan struct{})
	go w.flushAll(done)
	r.Run(ctx, job.Tasks)
	close(done)
	return w.flush()
}

// messageWriter writes messages in batches.
type messageWriter struct {
	mu      sync.Mutex
	out     *bufio.Writer
	encoder *json.Encoder
	eager   bool
	err     error
}

func (w *messageWriter) write(m Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.encoder.Encode(m); err != nil && w.err == nil {
		w.err = err
	}
	if w.eager && w.err == nil {
		w.err = w.out.Flush()
	}
}

func (w *messageWriter) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}

func (w *messageWriter) flushAll(done <-chan struct{}) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if w.flush() != nil {
				return // the reader has exited; Work returns the error
			}
		}
	}
}

// app is t.app(component, *args): it returns the app that `torchx run` builds from these arguments.
func (x *test) app(c call) (starlark.Value, error) {
	if len(c.args) == 0 || len(c.kwargs) > 0 {
		return nil, errors.New(`want a component and its arguments as typed: t.app(train, "--epochs", "3")`)
	}
	fn, ok := c.args[0].(*starlark.Function)
	if !ok {
		return nil, fmt.Errorf("%s is not a component, got %s",
			interp.Show(c.args[0]), c.args[0].Type())
	}
	words := make([]string, len(c.args)-1)
	for i, a := range c.args[1:] {
		word, ok := starlark.AsString(a)
		if !ok {
			return nil, fmt.Errorf("argument %d: got %s, want a string as typed", i+1, a.Type())
		}
		words[i] = word
	}
	args, kwargs, err := component.Arguments(fn, words, x.exec.runner.host.Resources...)
	if err != nil {
		return nil, err
	}
	v, err := starlark.Call(c.thread, fn, args, kwargs)
	if err != nil {
		return nil, err
	}
	app, err := specmodule.ToApp(v)
	if err == nil {
		err = app.Validate()
	}
	return v, err
}

// plan is t.plan(app, backend = "local", cfg = {}): it returns the backend's request as dicts and
// lists.
func (x *test) plan(c call) (starlark.Value, error) {
	var v starlark.Value
	backend, options := "local", starlark.NewDict(0)
	if err := c.unpack("app", &v, "backend?", &backend, "cfg?", &options); err != nil {
		return nil, err
	}
	app, err := specmodule.ToApp(v)
	if err != nil {
		return nil, err
	}
	cfg := map[string]string{}
	for _, item := range options.Items() {
		key, ok := starlark.AsString(item[0])
		if !ok {
			return nil, fmt.Errorf("cfg: the key %s is a %s, want a string",
				interp.Show(item[0]), item[0].Type())
		}
		if cfg[key], err = cfgText(item[1]); err != nil {
			return nil, fmt.Errorf("cfg: %s: %w", key, err)
		}
	}
	plan := x.exec.runner.host.Plan
	if plan == nil {
		return nil, errors.New("no backends are available")
	}
	request, err := plan(app, backend, cfg)
	if err != nil {
		return nil, err
	}
	return specmodule.FromJSON(request)
}

// cfgText returns a value in the syntax of -cfg.
func cfgText(v starlark.Value) (string, error) {
	switch v := v.(type) {
	case starlark.String:
		return string(v), nil
	case starlark.Bool:
		return map[bool]string{true: "true", false: "false"}[bool(v)], nil
	case starlark.Int, starlark.Float:
		return v.String(), nil
	}
	return "", fmt.Errorf("a %s cannot be an option: write it as a string", v.Type())
}

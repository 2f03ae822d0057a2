package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"torchx/cmd/internal/page/api"
	"torchx/cmd/internal/ui"
)

// Bounds in bytes.
const (
	maxOutput = 64 << 20  // of a command
	maxAnswer = 256 << 10 // of what an agent reads
)

// answer is what a tool returns.
type answer struct {
	text       string
	structured json.RawMessage // an object; nil: none
	failed     bool
}

func (a *answer) result() map[string]any {
	r := map[string]any{"content": []any{map[string]any{"type": "text", "text": a.text}}, "isError": a.failed}
	if a.structured != nil {
		r["structuredContent"] = a.structured
	}
	return r
}

// output is what a command printed.
type output struct {
	out      []byte
	messages []string // without "torchx: "
	code     int
}

// err returns the error of a command that failed.
func (o *output) err() error {
	if o.code == 0 {
		return nil
	}
	text := strings.Join(o.messages, "\n")
	return errors.New(strings.TrimPrefix(text, "error: "))
}

// run runs a command line in a process of its own, which reads it from stdin: it may have secrets, and
// other users can read arguments. It has no terminal, so that it asks nothing.
func (s *server) run(ctx context.Context, line ...string) (*output, error) {
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	words, err := json.Marshal(line)
	if err != nil {
		return nil, err
	}
	var out, messages limited
	out.left, messages.left = maxOutput, maxAnswer
	c := exec.CommandContext(ctx, s.program.Env.Exe, api.CallCommand)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(words), &out, &messages
	c.Dir, c.Env = s.dir, append(slices.Clone(s.program.Env.Vars), "NO_COLOR=1", "PWD="+s.dir)
	err = c.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.full:
		return nil, fmt.Errorf("the output of torchx %s is larger than %s: ask for less", line[0], ui.BytesText(maxOutput))
	case errors.As(err, &exit):
	case err != nil:
		return nil, fmt.Errorf("torchx %s in %s: %w", line[0], s.dir, err)
	}
	return &output{out.Bytes(), api.Messages(messages.String()), c.ProcessState.ExitCode()}, nil
}

// limited keeps the beginning of what is written, and fails after that, which ends the writer.
type limited struct {
	bytes.Buffer
	left int
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		l.full = true
		return 0, errors.New("too much output")
	}
	l.left -= len(p)
	return l.Buffer.Write(p)
}

// printed answers with the JSON that a command prints.
func (s *server) printed(ctx context.Context, t *tool, in input) (*answer, error) {
	line, err := t.line(in)
	if err != nil {
		return nil, err
	}
	o, err := s.run(ctx, line...)
	if err != nil {
		return nil, err
	}
	if err := o.err(); err != nil && !json.Valid(o.out) {
		return nil, err
	}
	return t.structured(o.out, o.messages)
}

// structured returns an answer with JSON that a command printed, and what it said.
func (t *tool) structured(out []byte, messages []string) (*answer, error) {
	if t.schema == "" {
		return bounded(&answer{text: strings.TrimSpace(string(out) + "\n" + strings.Join(messages, "\n"))})
	}
	var b bytes.Buffer
	if err := json.Compact(&b, out); err != nil {
		return nil, fmt.Errorf("torchx %s printed no JSON: %w", t.words[0], err)
	}
	object := b.Bytes()
	if t.list != "" {
		object = fmt.Appendf(nil, `{%q:%s}`, t.list, object)
	}
	return bounded(&answer{text: strings.Join(append([]string{string(object)}, messages...), "\n"), structured: object})
}

// bounded returns an error for an answer that would fill the memory of an agent.
func bounded(a *answer) (*answer, error) {
	if n := max(len(a.text), len(a.structured)); n > maxAnswer {
		return nil, fmt.Errorf("the answer has %s, more than %s: ask for less, by a name, a limit or a filter", ui.BytesText(int64(n)), ui.BytesText(maxAnswer))
	}
	return a, nil
}

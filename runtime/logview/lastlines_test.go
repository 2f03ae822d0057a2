package logview

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"torchx/runtime/backend"
)

// blocks is a log of blocks.
type blocks []backend.Block

func (b *blocks) Next(context.Context) (backend.Block, error) {
	if len(*b) == 0 {
		return backend.Block{}, io.EOF
	}
	first := (*b)[0]
	*b = (*b)[1:]
	return first, nil
}

func (*blocks) Close() error { return nil }

// numbered returns lines "WORD 1" to "WORD n".
func numbered(word string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", word, i+1)
	}
	return b.String()
}

const traceback = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nValueError: no data\n"

func TestLastLines(t *testing.T) {
	t.Parallel()
	const out, err = backend.Stdout, backend.Stderr
	for name, test := range map[string]struct {
		log  blocks
		want string
	}{
		"plain":              {blocks{{Stream: out, Data: []byte("a\n\nb\n\n")}}, "a\n\nb"},
		"progress bar":       {blocks{{Stream: err, Data: []byte("step 0/3\rstep 1/3\rstep 2/3\n" + traceback)}}, "step 2/3\n" + traceback},
		"bar without an end": {blocks{{Stream: err, Data: []byte("\rstep 1\rstep 2"), Partial: true}, {Stream: out, Data: []byte("hi\n")}, {Stream: err, Data: []byte("\rstep 3")}}, "step 3\nhi"},
		"CRLF":               {blocks{{Stream: out, Data: []byte("a\r\nb\r\n")}}, "a\nb"},
		"erased":             {blocks{{Stream: out, Data: []byte("10%\r\x1b[Kdone\n50%\x1b[2K\rlast\n")}}, "done\nlast"},
		"erased to nothing":  {blocks{{Stream: out, Data: []byte("a\n10%\r\x1b[2K")}}, "a"},
		"backspaces":         {blocks{{Stream: out, Data: []byte("1/9\b\b\b2/9\n")}}, "2/9"},
		"two bars":           {blocks{{Stream: err, Data: []byte("\rone 1\n\rtwo 1\x1b[A\rone 2\n\rtwo 2\x1b[A\rone 3\n\rtwo 3\nend\n")}}, "one 3\ntwo 3\nend"},
		"up above the top":   {blocks{{Stream: err, Data: []byte("\x1b[9Aa\n\x1b[9Ab\n")}}, "b"},
		"colors and titles":  {blocks{{Stream: out, Data: []byte("\x1b[31mred\x1b[0m \x1b]0;title\a\x1b(Bb\n")}}, "red b"},
		"split escape":       {blocks{{Stream: out, Data: []byte("a\x1b["), Partial: true}, {Stream: out, Data: []byte("1mb\n")}}, "ab"},
		"the last of many":   {blocks{{Stream: out, Data: []byte(numbered("line", 30))}}, strings.SplitN(numbered("line", 30), "\n", 11)[10]},
		"noise after error":  {blocks{{Stream: err, Data: []byte(traceback + numbered("bye", 30))}}, traceback + "[26 lines are left out]\nbye 27\nbye 28\nbye 29\nbye 30"},
		"noise after panic":  {blocks{{Stream: err, Data: []byte("panic: oh\n" + numbered("bye", 30))}}, "panic: oh\n[26 lines are left out]\nbye 27\nbye 28\nbye 29\nbye 30"},
		"torchrun": {
			blocks{{Stream: err, Data: []byte("[rank0]: Traceback (most recent call last):\n[rank0]:   File\n[rank0]: KeyError: 'x'\n" + numbered("warning", 20) +
				"Traceback (most recent call last):\n  File\ntorch.distributed.elastic.ChildFailedError: \n")}},
			"[rank0]: Traceback (most recent call last):\n[rank0]:   File\n[rank0]: KeyError: 'x'\n[19 lines are left out]\nwarning 20\n" +
				"Traceback (most recent call last):\n  File\ntorch.distributed.elastic.ChildFailedError:",
		},
	} {
		lines, failure := LastLines(t.Context(), &test.log)
		if got, want := strings.Join(lines, "\n"), strings.TrimSuffix(test.want, "\n"); failure != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, failure, want)
		}
	}
}

func TestLastLinesAreBounded(t *testing.T) {
	t.Parallel()
	log := blocks{{Stream: backend.Stdout, Data: []byte(strings.Repeat("é", 10_000))}}
	lines, err := LastLines(t.Context(), &log)
	if err != nil || len(lines) != 1 || len(lines[0]) > maxShown+3 {
		t.Errorf("got %d lines, the first of %d bytes, %v", len(lines), len(lines[0]), err)
	}
}

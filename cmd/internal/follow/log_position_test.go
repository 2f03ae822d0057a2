package follow

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
)

// blocks is a log that a test makes up.
type blocks struct{ next []backend.Block }

func (b *blocks) Next(context.Context) (backend.Block, error) {
	if len(b.next) == 0 {
		return backend.Block{}, io.EOF
	}
	first := b.next[0]
	b.next = b.next[1:]
	return first, nil
}

func (b *blocks) Close() error { return nil }

func out(text string) backend.Block {
	return backend.Block{Stream: backend.Stdout, Data: []byte(text)}
}

func part(text string) backend.Block {
	b := out(text)
	b.Partial = true
	return b
}

func open(n int64) map[backend.Stream]int64 { return map[backend.Stream]int64{backend.Stdout: n} }

func TestNewLines(t *testing.T) {
	t.Parallel()
	second := out("x\n")
	second.Attempt = 1
	other := out("err\n")
	other.Stream = backend.Stderr
	for name, c := range map[string]struct {
		from         position
		whole, lined bool
		tail         int // 0: every attempt may go on
		blocks       []backend.Block
		shown        string
		end          position
	}{
		"lines":             {blocks: []backend.Block{out("a\nb\n")}, shown: "a\nb\n", end: position{Lines: 2}},
		"an open line":      {blocks: []backend.Block{out("a\nbcd")}, shown: "a\nbcd", end: position{Lines: 1, Open: open(3)}},
		"its rest":          {from: position{Lines: 1, Open: open(3)}, blocks: []backend.Block{out("bcdef\ng\n")}, shown: "ef\ng\n", end: position{Lines: 3}},
		"more of it":        {from: position{Open: open(2)}, blocks: []backend.Block{out("abc")}, shown: "c", end: position{Open: open(3)}},
		"nothing more":      {from: position{Open: open(2)}, blocks: []backend.Block{out("ab")}, end: position{Open: open(2)}},
		"its end":           {from: position{Open: open(2)}, blocks: []backend.Block{out("ab\n")}, shown: "\n", end: position{Lines: 1}},
		"its end, prefixed": {from: position{Open: open(2)}, lined: true, blocks: []backend.Block{out("ab\nc\n")}, shown: "c\n", end: position{Lines: 2}},
		"only its end":      {from: position{Open: open(2)}, lined: true, blocks: []backend.Block{out("ab\n")}, end: position{Lines: 1}},
		"in pieces":         {from: position{Open: open(3)}, blocks: []backend.Block{part("ab"), part("cd"), out("e\n")}, shown: "de\n", end: position{Lines: 1}},
		"the other stream":  {from: position{Open: open(1)}, blocks: []backend.Block{other, out("ab\n")}, shown: "err\nb\n", end: position{Lines: 2}},
		"the next attempt":  {from: position{Open: open(1)}, blocks: []backend.Block{out("ab"), second}, shown: "bx\n", end: position{Attempt: 1, Lines: 1}},
		"only the next one": {from: position{Lines: 7}, blocks: []backend.Block{second}, shown: "x\n", end: position{Attempt: 1, Lines: 1}},
		"whole, open":       {whole: true, blocks: []backend.Block{out("a\nbc")}, shown: "a\n", end: position{Lines: 1}},
		"whole, ended":      {whole: true, tail: 1, blocks: []backend.Block{out("a\nbc")}, shown: "a\nbc", end: position{Lines: 1, Open: open(2)}},
		"whole, in pieces":  {whole: true, tail: 1, blocks: []backend.Block{part("ab"), out("c\n")}, shown: "abc\n", end: position{Lines: 1}},
		"whole, torn":       {whole: true, tail: 1, blocks: []backend.Block{out("a\n"), part("bc")}, shown: "a\nbc", end: position{Lines: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNewLines(&blocks{c.blocks}, c.from)
			n.whole, n.lined, n.tail = c.whole, c.lined, c.tail
			var shown strings.Builder
			count := int64(0)
			for b, err := n.Next(t.Context()); err == nil; b, err = n.Next(t.Context()) {
				shown.Write(b.Data)
				count++
				before := c.from.clone(nil)
				if got := n.reached(); count == 1 && !got.equal(&before) {
					t.Errorf("position %+v before anything was written, want %+v", got, before)
				}
			}
			n.written(count)
			if shown.String() != c.shown {
				t.Errorf("shown: %q, want %q", shown.String(), c.shown)
			}
			if got := n.reached(); !got.equal(&c.end) {
				t.Errorf("position %+v, want %+v", got, c.end)
			}
		})
	}
}

// Blocks count once they are written, one by one.
func TestNewLinesWritten(t *testing.T) {
	t.Parallel()
	n := newNewLines(&blocks{[]backend.Block{out("a\n"), out("b\n"), out("c")}}, position{})
	for range 3 {
		if _, err := n.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for count, want := range []position{{}, {Lines: 1}, {Lines: 2}, {Lines: 2, Open: open(1)}} {
		n.written(int64(count))
		n.written(int64(count))
		if got := n.reached(); !reflect.DeepEqual(got, want) {
			t.Errorf("after %d blocks: %+v, want %+v", count, got, want)
		}
	}
}

func TestParseBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "500": 500, "1K": 1024, "1k": 1024, "2MiB": 2 << 20, "1.5G": 3 << 29, "10GB": 10e9, "1 TB": 1e12, "7B": 7,
	} {
		if got, err := ui.ParseBytes(text); got != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "G", "1X", "1iB", "1e3", "99999999P", "1 2"} {
		if got, err := ui.ParseBytes(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

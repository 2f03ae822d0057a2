package position

import (
	"context"
	"io"
	"reflect"
	"strings"
	"testing"

	"torchx/runtime/backend"
)

// blocks is a log of given blocks.
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

func TestReader(t *testing.T) {
	t.Parallel()
	second := out("x\n")
	second.Attempt = 1
	other := out("err\n")
	other.Stream = backend.Stderr
	for name, c := range map[string]struct {
		from         Position
		whole, lined bool
		growing      int // 0: every attempt may still write
		blocks       []backend.Block
		shown        string
		end          Position
	}{
		"lines":             {blocks: []backend.Block{out("a\nb\n")}, shown: "a\nb\n", end: Position{Lines: 2}},
		"an open line":      {blocks: []backend.Block{out("a\nbcd")}, shown: "a\nbcd", end: Position{Lines: 1, Open: open(3)}},
		"its rest":          {from: Position{Lines: 1, Open: open(3)}, blocks: []backend.Block{out("bcdef\ng\n")}, shown: "ef\ng\n", end: Position{Lines: 3}},
		"more of it":        {from: Position{Open: open(2)}, blocks: []backend.Block{out("abc")}, shown: "c", end: Position{Open: open(3)}},
		"nothing more":      {from: Position{Open: open(2)}, blocks: []backend.Block{out("ab")}, end: Position{Open: open(2)}},
		"its end":           {from: Position{Open: open(2)}, blocks: []backend.Block{out("ab\n")}, shown: "\n", end: Position{Lines: 1}},
		"its end, prefixed": {from: Position{Open: open(2)}, lined: true, blocks: []backend.Block{out("ab\nc\n")}, shown: "c\n", end: Position{Lines: 2}},
		"only its end":      {from: Position{Open: open(2)}, lined: true, blocks: []backend.Block{out("ab\n")}, end: Position{Lines: 1}},
		"in pieces":         {from: Position{Open: open(3)}, blocks: []backend.Block{part("ab"), part("cd"), out("e\n")}, shown: "de\n", end: Position{Lines: 1}},
		"the other stream":  {from: Position{Open: open(1)}, blocks: []backend.Block{other, out("ab\n")}, shown: "err\nb\n", end: Position{Lines: 2}},
		"the next attempt":  {from: Position{Open: open(1)}, blocks: []backend.Block{out("ab"), second}, shown: "bx\n", end: Position{Attempt: 1, Lines: 1}},
		"only the next one": {from: Position{Lines: 7}, blocks: []backend.Block{second}, shown: "x\n", end: Position{Attempt: 1, Lines: 1}},
		"whole, open":       {whole: true, blocks: []backend.Block{out("a\nbc")}, shown: "a\n", end: Position{Lines: 1}},
		"whole, ended":      {whole: true, growing: 1, blocks: []backend.Block{out("a\nbc")}, shown: "a\nbc", end: Position{Lines: 1, Open: open(2)}},
		"whole, in pieces":  {whole: true, growing: 1, blocks: []backend.Block{part("ab"), out("c\n")}, shown: "abc\n", end: Position{Lines: 1}},
		"whole, torn":       {whole: true, growing: 1, blocks: []backend.Block{out("a\n"), part("bc")}, shown: "a\nbc", end: Position{Lines: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := NewReader(&blocks{c.blocks}, c.from, Lines{Whole: c.whole, Prefixed: c.lined}, c.growing)
			var shown strings.Builder
			count := int64(0)
			for b, err := n.Next(t.Context()); err == nil; b, err = n.Next(t.Context()) {
				shown.Write(b.Data)
				count++
				before := c.from.without(nil)
				if got := n.Position(); count == 1 && !got.equal(&before) {
					t.Errorf("position %+v before anything was written, want %+v", got, before)
				}
			}
			n.Written(count)
			if shown.String() != c.shown {
				t.Errorf("shown: %q, want %q", shown.String(), c.shown)
			}
			if got := n.Position(); !got.equal(&c.end) {
				t.Errorf("position %+v, want %+v", got, c.end)
			}
		})
	}
}

// Blocks count once they are written, one by one.
func TestReaderWritten(t *testing.T) {
	t.Parallel()
	n := NewReader(&blocks{[]backend.Block{out("a\n"), out("b\n"), out("c")}}, Position{}, Lines{}, 0)
	for range 3 {
		if _, err := n.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for count, want := range []Position{{}, {Lines: 1}, {Lines: 2}, {Lines: 2, Open: open(1)}} {
		n.Written(int64(count))
		n.Written(int64(count))
		if got := n.Position(); !reflect.DeepEqual(got, want) {
			t.Errorf("after %d blocks: %+v, want %+v", count, got, want)
		}
	}
}

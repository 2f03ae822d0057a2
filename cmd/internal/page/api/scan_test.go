package api

import (
	"context"
	"io"
	"regexp"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/logview"
	"torchx/runtime/runner"
)

// blocks is a log of given blocks.
type blocks []backend.Block

func (b *blocks) Next(context.Context) (backend.Block, error) {
	if len(*b) == 0 {
		return backend.Block{}, io.EOF
	}
	one := (*b)[0]
	*b = (*b)[1:]
	return one, nil
}

func (b *blocks) Close() error { return nil }

func block(text string, partial bool) backend.Block {
	return backend.Block{Stream: backend.Stdout, Data: []byte(text), Partial: partial}
}

func TestLinesOfBlocks(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLine+10)
	bar := strings.Repeat("10%\r", maxLine)
	for name, tt := range map[string]struct {
		blocks []backend.Block
		want   []LogLine
	}{
		"nothing":         {},
		"whole lines":     {[]backend.Block{block("a\n\nb", false)}, []LogLine{{Line: "a"}, {Line: ""}, {Line: "b"}}},
		"in parts":        {[]backend.Block{block("a", true), block("b", true), block("c\nd\n", false)}, []LogLine{{Line: "abc"}, {Line: "d"}}},
		"never ended":     {[]backend.Block{block("a", true)}, []LogLine{{Line: "a"}}},
		"a long line":     {[]backend.Block{block(long, true), block("y\nz\n", false)}, []LogLine{{Line: long[:maxLine], Cut: 11}, {Line: "z"}}},
		"a progress bar":  {[]backend.Block{block(bar+"end\n", false)}, []LogLine{{Line: (bar + "end")[len(bar)+3-maxLine:], Cut: int64(len(bar) + 3 - maxLine)}}},
		"invalid text":    {[]backend.Block{block("\xff\n", false)}, []LogLine{{Line: "\uFFFD"}}},
		"trimmed":         {[]backend.Block{{Stream: backend.Stdout, Data: []byte("a\n"), Skipped: 7}}, []LogLine{{Number: 8, Line: "a"}}},
		"notice and text": {[]backend.Block{{Notice: "gone"}, block("a\n", false)}, []LogLine{{Line: "a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := blocks(tt.blocks)
			o := &openLog{inputs: []runner.LogInput{{Role: "r", Reader: &log}}}
			var got []LogLine
			s := o.scan(0)
			if err := s.lines(t.Context(), func(l *LogLine) bool { got = append(got, *l); return true }); err != nil {
				t.Fatal(err)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("got %d lines, want %d", len(got), len(tt.want))
			}
			for i, l := range got {
				want := tt.want[i]
				if want.Number == 0 {
					want.Number = int64(i + 1)
				}
				if l.Line != want.Line || l.Cut != want.Cut || l.Number != want.Number {
					t.Errorf("got line %d %.40q, %d bytes cut, want %d %.40q, %d", l.Number, l.Line, l.Cut, want.Number, want.Line, want.Cut)
				}
			}
		})
	}
}

func TestFinderCountsLines(t *testing.T) {
	t.Parallel()
	f := &finder{match: logview.NewMatcher(regexp.MustCompile("needle")), open: make([][3][]byte, 1)}
	open := &f.open[0][1]
	for _, b := range []backend.Block{
		block("a\nneedle 2\nb\n", false), block("needle 4\nneedle 5\nnee", true), block("dle 6\nc\n", false), block("nee", true), block("dl", true), block("e 8", true),
	} {
		f.block(open, b)
	}
	f.flush()
	got := f.found()
	if got.Count != 5 || got.Scanned != 8 || len(got.Lines) != 5 || got.Lines[0] != 2 || got.Lines[3] != 6 || got.Lines[4] != 8 {
		t.Errorf("got %+v, want lines 2, 4, 5, 6 and 8 of 8", *got)
	}
}

package analysis

import (
	"strings"
	"testing"

	"torchx/components"
	"torchx/starlark/token"
)

// large returns a file of 2,000 lines whose last line does not parse.
func large(b *testing.B) string {
	b.Helper()
	source, err := components.FS.ReadFile("dist.star")
	if err != nil {
		b.Fatal(err)
	}
	return strings.Repeat(string(source), 2000/strings.Count(string(source), "\n")+1) + "x = specs."
}

func BenchmarkNew(b *testing.B) {
	text := large(b)
	for b.Loop() {
		New("x.star", nil, text, nil)
	}
}

func BenchmarkTokenize(b *testing.B) {
	text := large(b)
	for b.Loop() {
		token.Scan(text, 0)
	}
}

func BenchmarkComplete(b *testing.B) {
	text := large(b)
	f := New("x.star", nil, text, nil)
	for b.Loop() {
		f.Complete(workspace, len(text))
	}
}

// BenchmarkKey measures the work after typing one character.
func BenchmarkKey(b *testing.B) {
	text := large(b)
	f := New("x.star", nil, text, nil)
	for b.Loop() {
		f = New("x.star", nil, text+"R", f)
		f = New("x.star", nil, text, f)
	}
}

package tty

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"torchx/runtime/backend"
)

// TestTyped: after the input, EOF is typed more than once, until the context ends.
func TestTyped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in := Typed(ctx, strings.NewReader("partial"))
	got := make([]byte, len("partial")+2)
	if _, err := io.ReadFull(in, got); err != nil {
		t.Fatal(err)
	}
	if want := []byte{backend.EndOfFile, backend.EndOfFile}; !bytes.Equal(got, append([]byte("partial"), want...)) {
		t.Errorf("got %q, want the input and EOF twice", got)
	}
	cancel()
	if n, err := in.Read(got); err != io.EOF || n != 0 {
		t.Errorf("after the end: got %d, %v, want io.EOF", n, err)
	}
}

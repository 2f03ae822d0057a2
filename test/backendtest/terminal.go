package backendtest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"torchx/runtime/backend"
)

// ReadUntil reads a terminal until its output contains a text, or to its end for "".
func ReadUntil(ctx context.Context, t testing.TB, terminal backend.Terminal, text string) string {
	t.Helper()
	var shown strings.Builder
	for text == "" || !strings.Contains(shown.String(), text) {
		o, err := terminal.Next(ctx)
		if errors.Is(err, io.EOF) && text == "" {
			break
		}
		if err != nil {
			t.Fatalf("after %q: %v", shown.String(), err)
		}
		shown.Write(o.Data)
	}
	return shown.String()
}

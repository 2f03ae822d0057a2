package program

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// A signal ends a command that opens or reads a pipe whose other end does nothing.
func TestCancelable(t *testing.T) {
	t.Parallel()
	silent, end := io.Pipe()
	defer end.Close()
	blocked := make(chan struct{})
	defer close(blocked)
	for name, open := range map[string]func() (io.ReadCloser, error){
		"open": func() (io.ReadCloser, error) { <-blocked; return nil, io.EOF },
		"read": func() (io.ReadCloser, error) { return silent, nil },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := Cancelable(ctx, open)
		cancel(ErrInterrupted)
		if _, err := io.ReadAll(r); !errors.Is(err, ErrInterrupted) {
			t.Errorf("%s: got %v, want %v", name, err, ErrInterrupted)
		}
	}
	whole := Cancelable(t.Context(), func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("text")), nil })
	if data, err := io.ReadAll(whole); err != nil || string(data) != "text" {
		t.Errorf("got %q, %v, want the text", data, err)
	}
}

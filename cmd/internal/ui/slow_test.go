package ui

import (
	"bytes"
	"testing"
)

// lines receives what is written.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func TestSayIfSlow(t *testing.T) {
	t.Parallel()
	got := make(lines, 2)
	stop := NewConsole(Streams{Err: got}).SayIfSlow("waiting for %s", "x")
	if line, want := <-got, "torchx: waiting for x\n"; line != want {
		t.Errorf("got %q, want %q", line, want)
	}
	stop()
	if len(got) > 0 {
		t.Errorf("got a second line %q, want one", <-got)
	}
	var quick bytes.Buffer
	NewConsole(Streams{Err: &quick}).SayIfSlow("waiting")()
	if quick.Len() > 0 {
		t.Errorf("stopped immediately: got %q, want nothing", &quick)
	}
}

package kubernetes

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
)

// emit passes output to Next.
func (c *terminal) emit(p []byte, a *attempt) error {
	if len(p) == 0 {
		return nil
	}
	select {
	case c.output <- backend.TerminalOutput{Data: bytes.Clone(p), Attempt: a.number}:
		return nil
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}

// Next waits for output.
func (c *terminal) Next(ctx context.Context) (backend.TerminalOutput, error) {
	select {
	case o, open := <-c.output:
		switch {
		case open:
			return o, nil
		case c.failed != nil:
			return o, fmt.Errorf("%w (the app keeps running)", c.failed)
		}
		return o, io.EOF
	case <-ctx.Done():
		return backend.TerminalOutput{}, ctx.Err()
	}
}

// Write sends input to the pod, or to that of the next attempt.
func (c *terminal) Write(p []byte) (int, error) {
	select {
	case c.typed <- bytes.Clone(p):
		return len(p), nil
	case <-c.ctx.Done():
		return 0, fs.ErrClosed
	}
}

// CloseInput sends EOF characters, again and again.
func (c *terminal) CloseInput() error {
	go func() {
		for pause := backend.MinEOFPause; ; pause = min(2*pause, backend.MaxEOFPause) {
			if _, err := c.Write([]byte{backend.EndOfFile}); err != nil {
				return
			}
			if kube.Sleep(c.ctx, pause) != nil {
				return
			}
		}
	}()
	return nil
}

// Resize sets the size of the terminal when an attempt runs.
func (c *terminal) Resize(size backend.TerminalSize) error {
	select {
	case <-c.resized: // an older one
	default:
	}
	c.keepSize(size)
	return nil
}

// keepSize stores a size for the next reader, unless there is a newer one.
func (c *terminal) keepSize(size backend.TerminalSize) {
	select {
	case c.resized <- size:
	default:
	}
}

// Close ends the connection; the app continues.
func (c *terminal) Close() error {
	c.cancel()
	return nil
}

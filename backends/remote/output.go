package remote

import (
	"context"
	"errors"
	"io"

	"torchx/runtime/backend"
)

// UntilLost runs a command, and ends it with the first error of writing its output, which it
// returns: srun and the client of Kubernetes would read on and report nothing.
func UntilLost(ctx context.Context, c backend.Command, run func(context.Context, backend.Command) (int, error)) (int, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.Stdout, c.Stderr = stopping(c.Stdout, stop), stopping(c.Stderr, stop)
	code, err := run(ctx, c)
	if lost := (*writeError)(nil); errors.As(context.Cause(ctx), &lost) {
		return 0, lost
	}
	return code, err
}

// stopping returns a writer whose first error calls stop; nil for nil.
func stopping(w io.Writer, stop context.CancelCauseFunc) io.Writer {
	if w == nil {
		return nil
	}
	return stopWriter{w, stop}
}

type stopWriter struct {
	io.Writer
	stop context.CancelCauseFunc
}

// writeError is an error of writing output.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

func (w stopWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		w.stop(&writeError{err})
	}
	return n, err
}

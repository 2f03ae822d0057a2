package program

import (
	"context"
	"io"
)

// Cancelable returns a reader of what open opens that fails when ctx ends. Opening or reading a
// pipe may block for ever, and no signal interrupts it.
func Cancelable(ctx context.Context, open func() (io.ReadCloser, error)) io.ReadCloser {
	out, in := io.Pipe()
	stop := context.AfterFunc(ctx, func() { in.CloseWithError(context.Cause(ctx)) })
	go func() {
		defer stop()
		r, err := open()
		if err == nil {
			_, err = io.Copy(in, r)
			_ = r.Close() // it was read
		}
		in.CloseWithError(err)
	}()
	return out
}

// Input returns the command's stdin as Cancelable does.
func (f *Factory) Input(ctx context.Context) io.ReadCloser {
	return Cancelable(ctx, func() (io.ReadCloser, error) { return io.NopCloser(f.In), nil })
}

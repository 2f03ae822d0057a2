package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"

	"torchx/runtime/backend"
)

// MarkVariable marks the processes of a command, so that signals find them.
const MarkVariable = "TORCHX_EXEC"

// killScript sends the signal $2 to all processes whose environment has the mark $1.
const killScript = `for f in $(grep -ls "` + MarkVariable + `=$1" /proc/[0-9]*/environ); do p=${f#/proc/}; kill -"$2" "${p%/environ}"; done; :`

// Run runs a command in a replica; its processes get MarkVariable=mark unless mark is "".
type Run func(ctx context.Context, c backend.Command, mark string) (code int, err error)

// errUnsignalled means that a signal did not reach the command.
var errUnsignalled = errors.New("the signal was not sent, the command goes on: the replica has no sh, grep or kill")

// WithSignals runs a command and sends it the signals of c, and SIGPIPE if UntilLost ends it. If a
// signal of c is not sent, it returns an error and the command goes on.
func WithSignals(ctx context.Context, c backend.Command, run Run) (code int, err error) {
	if c.Signals == nil {
		return run(ctx, c, "")
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	mark := rand.Text()
	ended := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case s := <-c.Signals:
				if !send(ctx, run, mark, s) {
					giveUp(errUnsignalled)
				}
			case <-ended:
				return
			}
		}
	}()
	code, err = run(ctx, c, mark)
	if lost := (*writeError)(nil); errors.As(err, &lost) {
		send(ctx, run, mark, syscall.SIGPIPE) // otherwise it would wait for a reader without end
	}
	if errors.Is(context.Cause(ctx), errUnsignalled) {
		err = errUnsignalled
	}
	giveUp(nil) // ends a signal that is being sent
	close(ended)
	<-done
	return code, err
}

// send sends a signal to marked processes.
func send(ctx context.Context, run Run, mark string, s os.Signal) bool {
	number, ok := s.(syscall.Signal)
	if !ok {
		return false
	}
	c := backend.Command{
		Args:   []string{"sh", "-c", killScript, "sh", mark, strconv.Itoa(int(number))},
		Stdout: io.Discard, Stderr: io.Discard,
	}
	code, err := run(ctx, c, "")
	return err == nil && code == 0 || ctx.Err() != nil
}

// UntilLost runs a command, and ends it with the first error of writing its output, which it
// returns: srun and the client of Kubernetes would read on and report nothing.
func UntilLost(
	ctx context.Context, c backend.Command, run func(context.Context, backend.Command) (int, error),
) (int, error) {
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

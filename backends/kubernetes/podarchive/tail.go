package podarchive

import (
	"context"
	"errors"
	"io"
	"slices"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// manyReplicas is the number of replicas from which the last lines of their logs are read from
// the cluster and not archived: copying the logs of 5,000 replicas takes a minute.
const manyReplicas = 100

// lastRun returns the run that has the last lines of a replica's log, if one request can read
// them: the only container of the last attempt has run once, and its log is not archived.
func (a *App) lastRun(
	r spec.Replica, kept map[logName]bool, o backend.LogOptions,
) (last Run, ok bool) {
	plain := o.Tail > 0 && o.FromLine == 0 && o.ToLine == 0 && o.Since.IsZero() && o.Until.IsZero()
	if !plain || o.Follow || o.AllAttempts || o.Attempt != nil || a.Stream != "" || len(kept) > 0 {
		return last, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.runs) < manyReplicas {
		return last, false
	}
	for name, runs := range a.runs[r] {
		run := runs[len(runs)-1]
		switch {
		case name.attempt < last.Attempt:
		case name.attempt == last.Attempt && ok:
			return last, false // it has several containers
		default:
			last = run
			ok = name.container == "" && len(runs) == 1 && run.Restart == 0 && !run.InPlace &&
				run.State != logcopy.Gone
		}
	}
	return last, ok
}

// tailReader reads the last lines of a run. It begins when it is opened, since the logs of many
// replicas are opened before the first line is read. If one request does not suffice, the log is
// copied like any other.
type tailReader struct {
	replica  spec.Replica
	options  backend.LogOptions
	app      *App
	cancel   context.CancelFunc
	done     chan struct{}
	blocks   []backend.Block
	err      error             // set when done is closed, as fallback
	fallback backend.LogReader // nil: not needed
}

func (a *App) openTail(r spec.Replica, last Run, o backend.LogOptions) *tailReader {
	ctx, cancel := context.WithCancel(context.Background())
	t := &tailReader{replica: r, options: o, app: a, cancel: cancel, done: make(chan struct{})}
	if last.State != logcopy.Running && last.State != logcopy.Ended {
		close(t.done) // it has no lines
		return t
	}
	go func() {
		defer close(t.done)
		t.err = t.read(ctx, last)
		var unreadable *logcopy.UnreadableError
		if t.err != nil && ctx.Err() == nil && !errors.As(t.err, &unreadable) {
			t.fallback = a.copied(r, o, false)
		}
	}()
	return t
}

// read reads the lines of the run.
func (t *tailReader) read(ctx context.Context, last Run) error {
	select {
	case t.app.copying <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-t.app.copying }()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	source := &runView{view: &view{t.app, t.replica, logName{last.Attempt, ""}, true}, run: last}
	stream, err := source.Open(ctx, logcopy.Options{Tail: t.options.Tail})
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		e, err := stream.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		b := backend.Block{Time: e.Time, Stream: backend.Combined, Attempt: last.Attempt, Data: slices.Clone(e.Data)}
		if n := len(t.blocks); n > 0 && !e.First {
			t.blocks[n-1].Data = append(t.blocks[n-1].Data, b.Data...)
			continue
		}
		t.blocks = append(t.blocks, b)
	}
}

// Next implements backend.LogReader.
func (t *tailReader) Next(ctx context.Context) (b backend.Block, err error) {
	select {
	case <-t.done:
	case <-ctx.Done():
		return b, ctx.Err()
	}
	if t.fallback != nil {
		return t.fallback.Next(ctx)
	}
	if t.err != nil {
		return b, t.err
	}
	if len(t.blocks) == 0 {
		return b, io.EOF
	}
	b, t.blocks = t.blocks[0], t.blocks[1:]
	return b, nil
}

// Close implements io.Closer.
func (t *tailReader) Close() error {
	t.cancel()
	<-t.done
	if t.fallback != nil {
		return t.fallback.Close()
	}
	return nil
}

package logstore

import (
	"bytes"
	"context"
	"io"

	"torchx/runtime/backend"
)

// Raw follows the bytes of stdout as they arrive, for a client attached to the replica's
// terminal. It ignores lines, so that nothing is delayed.
type Raw struct {
	reader
	raw     backend.TerminalOptions
	started bool // the first attempt has been opened
}

// OpenRaw follows one replica across attempts until the app ends.
func OpenRaw(src Source, o backend.TerminalOptions) (*Raw, error) {
	lo := backend.LogOptions{Stream: backend.Stdout, Follow: true, AllAttempts: o.All, Tail: -1}
	sel, err := newSelection(lo)
	if err != nil {
		return nil, err
	}
	r := &Raw{raw: o}
	r.src, r.o, r.sel, r.closing = src, lo, sel, make(chan struct{})
	if r.attempts, r.done, err = src.State(); err != nil {
		return nil, err
	}
	if err := r.first(); err != nil {
		return nil, err
	}
	r.follow = newFollower(src, lo)
	return r, nil
}

// Next returns the next output; io.EOF after the end of the app.
func (r *Raw) Next(ctx context.Context) (backend.TerminalOutput, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if err := r.checkStopped(ctx); err != nil {
			return backend.TerminalOutput{}, err
		}
		if r.end {
			return backend.TerminalOutput{}, io.EOF
		}
		if out, ok, err := r.stepRaw(ctx); ok || err != nil {
			return out, err
		}
	}
}

func (r *Raw) stepRaw(ctx context.Context) (out backend.TerminalOutput, ok bool, err error) {
	if r.cur == nil {
		if err := r.advance(ctx); err != nil || r.cur == nil {
			return out, false, err
		}
		if !r.started && !r.raw.All {
			r.cur.pos[Stdout] = r.lastScreen()
		}
		r.started = true
	}
	a := r.cur
	if end := a.index.totals().end[Stdout]; a.pos[Stdout] < end {
		skipped := r.catchUp(end)
		p, err := a.view(Stdout, min(end, a.pos[Stdout]+window), end)
		a.pos[Stdout] += int64(len(p))
		return backend.TerminalOutput{Data: p, Attempt: a.number, Skipped: skipped}, len(p) > 0 || skipped > 0, err
	}
	if !a.atEnd {
		_, _, err := r.wait(ctx)
		return out, false, err
	}
	r.closeCurrent()
	return out, false, nil
}

// catchUp skips output if the client is too far behind, and returns the skipped bytes.
func (r *Raw) catchUp(end int64) int64 {
	pos := &r.cur.pos[Stdout]
	if r.raw.Lag <= 0 || end-*pos <= r.raw.Lag {
		return 0
	}
	before := *pos
	*pos = max(before, r.lastScreen())
	return *pos - before
}

// lastScreen returns where the last Tail bytes start, moved to the next line if possible.
func (r *Raw) lastScreen() int64 {
	end := r.cur.index.totals().end[Stdout]
	from := max(0, end-r.raw.Tail)
	p, err := r.cur.data[Stdout].view(from, end, end)
	if i := bytes.IndexByte(p, '\n'); err == nil && from > 0 && i >= 0 && i+1 < len(p) {
		from += int64(i) + 1
	}
	return from
}

package logview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"torchx/runtime/backend"
)

// maxPending is the number of unwritten bytes beyond which the readers wait.
const maxPending = 1 << 20

// follower has one goroutine per input, which formats new blocks into a shared buffer. The
// goroutine of Copy writes the buffer as soon as it can: single lines immediately, a flood
// in large pieces.
type follower struct {
	f     *formatter
	ready chan struct{} // f.out has something to write
	notes *Notes        // may be nil

	mu      sync.Mutex // guards f and the fields below
	drained *sync.Cond // f.out was taken, or the follower has stopped
	running int        // inputs that have not ended
	stopped bool
	failed  failures
	placed  []placedNote
	grewAt  time.Time // when a block was last added
}

func follow(ctx context.Context, w io.Writer, f *formatter) error {
	ctx, cancel := context.WithCancel(ctx)
	fo := &follower{f: f, ready: make(chan struct{}, 1), running: len(f.inputs), notes: f.o.Notes}
	fo.drained = sync.NewCond(&fo.mu)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer fo.stop()
	defer cancel()
	for i := range f.inputs {
		wg.Go(func() { fo.read(ctx, i) })
	}
	return fo.write(ctx, w)
}

// read formats the blocks of one input until its end.
func (fo *follower) read(ctx context.Context, i int) {
	in := fo.f.inputs[i].Input
	for {
		b, err := in.Reader.Next(ctx)
		if err != nil {
			fo.format(func() { fo.inputEnded(ctx, i, err) })
			return
		}
		for part, last := range parts(b) {
			if !fo.format(func() { fo.addPart(i, part, last) }) {
				return
			}
		}
	}
}

// addPart formats a part of a block.
func (fo *follower) addPart(i int, b backend.Block, last bool) {
	if b.Attempt > 0 {
		fo.placeNotes(b.Attempt)
	}
	fo.grewAt = time.Now()
	fo.f.add(i, b, last)
}

// format calls add once the buffer has room; false if the follower has stopped.
func (fo *follower) format(add func()) bool {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	for len(fo.f.out) >= maxPending && !fo.stopped {
		fo.drained.Wait()
	}
	if fo.stopped {
		return false
	}
	add()
	select {
	case fo.ready <- struct{}{}:
	default:
	}
	return true
}

// inputEnded records the end of an input.
func (fo *follower) inputEnded(ctx context.Context, i int, err error) {
	fo.running--
	fo.f.finish(i)
	if !errors.Is(err, io.EOF) && ctx.Err() == nil {
		fo.failed.add(fo.f.inputs[i].Input, err)
	}
}

// write writes the formatted output until all inputs have ended.
func (fo *follower) write(ctx context.Context, w io.Writer) error {
	var spare []byte
	counts := make([]int64, len(fo.f.counts))
	var idle <-chan time.Time
	var noteAdded <-chan struct{}
	if fo.notes != nil {
		noteAdded = fo.notes.wake
	}
	for {
		p, placed, done := fo.take(spare, counts)
		if err := fo.writeOut(w, p, placed); err != nil {
			return err
		}
		spare = p
		fo.f.written(counts)
		if done {
			return cmp.Or(ctx.Err(), fo.failed.error())
		}
		select {
		case <-fo.ready:
		case <-noteAdded:
			idle = time.After(idleTime)
		case <-idle:
			idle = nil
			if left := fo.idleTimeLeft(); left > 0 {
				idle = time.After(left)
			} else {
				fo.mu.Lock()
				fo.placeNotes(math.MaxInt)
				fo.mu.Unlock()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// writeOut writes the output and prints the notes at their places in it.
func (fo *follower) writeOut(w io.Writer, p []byte, placed []placedNote) error {
	written := 0
	for i := range len(placed) + 1 {
		end := len(p)
		if i < len(placed) {
			end = placed[i].at
		}
		if end > written {
			n, err := w.Write(p[written:end])
			fo.mu.Lock()
			fo.f.stats.Bytes += int64(n)
			fo.mu.Unlock()
			if err != nil {
				return fmt.Errorf("write log: %w", err)
			}
			written = end
		}
		if i < len(placed) {
			placed[i].Print(placed[i].midLine)
		}
	}
	return nil
}

// take exchanges the buffer for an empty one and sets counts to the blocks formatted so far.
// done reports that all inputs have ended.
func (fo *follower) take(spare []byte, counts []int64) (p []byte, placed []placedNote, done bool) {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	if done = fo.running == 0; done {
		fo.f.end()
		fo.placeNotes(math.MaxInt)
	}
	p, fo.f.out = fo.f.out, spare[:0]
	placed, fo.placed = fo.placed, nil
	copy(counts, fo.f.counts)
	fo.drained.Broadcast()
	return p, placed, done
}

// stop ends readers that wait for the buffer.
func (fo *follower) stop() {
	fo.mu.Lock()
	fo.stopped = true
	fo.mu.Unlock()
	fo.drained.Broadcast()
}

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

// pending is how much may wait to be written: beyond it the readers wait.
const pending = 1 << 20

// follower lets one goroutine per input format what comes into a buffer that
// Copy's own goroutine writes out as soon as it can: single lines at once, a
// flood in large pieces.
type follower struct {
	f     *formatter
	ready chan struct{} // there is something to write
	notes *Notes        // nil: none

	mu      sync.Mutex // guards f and what is below
	room    *sync.Cond // f.out was taken, or stopped
	running int
	stopped bool
	failed  error // the first input that failed
	placed  []placedNote
	grewAt  time.Time // when a block was last added
}

func follow(ctx context.Context, w io.Writer, f *formatter) error {
	ctx, cancel := context.WithCancel(ctx)
	fo := &follower{f: f, ready: make(chan struct{}, 1), running: len(f.inputs), notes: f.o.Notes}
	fo.room = sync.NewCond(&fo.mu)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer fo.stop()
	defer cancel()
	for i := range f.inputs {
		wg.Go(func() { fo.read(ctx, i) })
	}
	return fo.write(ctx, w)
}

// read formats what comes from one input until its end.
func (fo *follower) read(ctx context.Context, i int) {
	in := fo.f.inputs[i].Input
	for {
		b, err := in.Reader.Next(ctx)
		if err != nil {
			fo.format(func() { fo.ended(ctx, i, err) })
			return
		}
		for part, last := range parts(b) {
			if !fo.format(func() { fo.show(i, part, last) }) {
				return
			}
		}
	}
}

// show formats a part of a block.
func (fo *follower) show(i int, b backend.Block, last bool) {
	if b.Attempt > 0 {
		fo.place(b.Attempt)
	}
	fo.grewAt = time.Now()
	fo.f.add(i, b, last)
}

// format calls add when there is room for what it adds; false if all has stopped.
func (fo *follower) format(add func()) bool {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	for len(fo.f.out) >= pending && !fo.stopped {
		fo.room.Wait()
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

// ended notes the end of an input.
func (fo *follower) ended(ctx context.Context, i int, err error) {
	fo.running--
	fo.f.finish(i)
	if !errors.Is(err, io.EOF) && ctx.Err() == nil && fo.failed == nil {
		fo.failed = fmt.Errorf("%s: %w", fo.f.inputs[i].name(), err)
	}
}

// write writes what the inputs have formatted until all are at their end.
func (fo *follower) write(ctx context.Context, w io.Writer) error {
	var spare []byte
	counts := make([]int64, len(fo.f.counts))
	var rested <-chan time.Time
	var noted <-chan struct{}
	if fo.notes != nil {
		noted = fo.notes.wake
	}
	for {
		p, placed, over := fo.take(spare, counts)
		if err := fo.writeOut(w, p, placed); err != nil {
			return err
		}
		spare = p
		fo.f.written(counts)
		if over {
			return cmp.Or(ctx.Err(), fo.failed)
		}
		select {
		case <-fo.ready:
		case <-noted:
			rested = time.After(restTime)
		case <-rested:
			rested = nil
			if left := fo.rest(); left > 0 {
				rested = time.After(left)
			} else {
				fo.mu.Lock()
				fo.place(math.MaxInt)
				fo.mu.Unlock()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// writeOut writes the output and makes the notes in it.
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
			placed[i].Make(placed[i].midLine)
		}
	}
	return nil
}

// take exchanges the buffer for an empty one and fills in the blocks that went
// into it and those before; over: nothing more will come.
func (fo *follower) take(spare []byte, counts []int64) (p []byte, placed []placedNote, over bool) {
	fo.mu.Lock()
	defer fo.mu.Unlock()
	if over = fo.running == 0; over {
		fo.f.end()
		fo.place(math.MaxInt)
	}
	p, fo.f.out = fo.f.out, spare[:0]
	placed, fo.placed = fo.placed, nil
	copy(counts, fo.f.counts)
	fo.room.Broadcast()
	return p, placed, over
}

// stop lets readers that wait for room end.
func (fo *follower) stop() {
	fo.mu.Lock()
	fo.stopped = true
	fo.mu.Unlock()
	fo.room.Broadcast()
}

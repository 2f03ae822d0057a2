package logview

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"torchx/runtime/backend"
)

// batch is how much is gathered for one write; more only makes caches miss.
const batch = 128 << 10

// merge writes the inputs' blocks in the order of their times; at the same time
// in the order of the inputs.
func merge(ctx context.Context, w io.Writer, f *formatter) error {
	m := &merger{f: f, w: w}
	for i := range f.inputs {
		if err := m.pull(ctx, i); err != nil {
			return err
		}
	}
	heap.Init(&m.heads)
	for len(m.heads) > 0 {
		if err := m.step(ctx); err != nil {
			return err
		}
	}
	f.end()
	if err := m.flush(); err != nil {
		return err
	}
	f.written(f.counts)
	return m.failed
}

type merger struct {
	f      *formatter
	w      io.Writer
	heads  heads
	failed error // the first input that failed
}

// head is the next block of an input.
type head struct {
	input int
	block backend.Block
	at    time.Time
}

// step writes the first block, and what it is only a part of.
func (m *merger) step(ctx context.Context) error {
	for {
		h := &m.heads[0]
		if err := m.write(h.input, h.block); err != nil {
			return err
		}
		partial := h.block.Partial
		more, err := m.next(ctx, h)
		if err != nil {
			return err
		}
		if !more {
			heap.Pop(&m.heads)
			return nil
		}
		if !partial {
			heap.Fix(&m.heads, 0)
			return nil
		}
	}
}

// write formats a block, or passes on a large raw one as it is.
func (m *merger) write(i int, b backend.Block) error {
	f := m.f
	if b.Notice == "" && len(b.Data) >= batch/4 && f.raw() {
		at := f.begin(i, b)
		if err := m.flush(); err != nil {
			return err
		}
		f.went(at, b, b.Data)
		if err := f.writeTo(m.w, b.Data); err != nil {
			return err
		}
		f.counts[i]++
		f.written(f.counts)
		return nil
	}
	f.add(i, b)
	if len(f.out) >= batch {
		return m.flush()
	}
	return nil
}

func (m *merger) flush() error {
	if len(m.f.out) == 0 {
		return nil
	}
	err := m.f.writeTo(m.w, m.f.out)
	m.f.out = m.f.out[:0]
	if err == nil {
		m.f.written(m.f.counts)
	}
	return err
}

// pull reads the first block of an input.
func (m *merger) pull(ctx context.Context, i int) error {
	h := head{input: i}
	more, err := m.next(ctx, &h)
	if more {
		m.heads = append(m.heads, h)
	}
	return err
}

// next reads the next block of an input; false at its end.
func (m *merger) next(ctx context.Context, h *head) (bool, error) {
	b, err := m.f.inputs[h.input].Reader.Next(ctx)
	if err == nil {
		if h.block = b; !b.Time.IsZero() {
			h.at = b.Time // a notice may have none: it stays where it is
		}
		return true, nil
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if !errors.Is(err, io.EOF) && m.failed == nil {
		m.failed = fmt.Errorf("%s: %w", m.f.inputs[h.input].name(), err)
	}
	return false, nil
}

// raw tells whether bytes are passed on as they are.
func (f *formatter) raw() bool { return !f.lined && !f.o.JSON }

// writeTo writes p and counts it.
func (f *formatter) writeTo(w io.Writer, p []byte) error {
	n, err := w.Write(p)
	f.stats.Bytes += int64(n)
	if err != nil {
		return fmt.Errorf("write log: %w", err)
	}
	return nil
}

// heads orders the inputs by the time of their next block.
type heads []head

func (h heads) Len() int { return len(h) }

func (h heads) Less(i, j int) bool {
	if c := h[i].at.Compare(h[j].at); c != 0 {
		return c < 0
	}
	return h[i].input < h[j].input
}

func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *heads) Push(x any) { *h = append(*h, x.(head)) }

// Pop implements heap.Interface.
func (h *heads) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

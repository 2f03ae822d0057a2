package logview

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"torchx/runtime/backend"
)

// Merger returns the blocks of several logs: in the order of their times (at the same time in
// the order of the readers), or as they arrive.
type Merger struct {
	readers []backend.LogReader
	heads   heads
	begun   bool
	used    bool // the first block was returned

	// When blocks are returned as they arrive:
	follow bool
	left   int // readers that have not ended
	blocks chan arrival
	cancel context.CancelFunc
	begin  sync.Once
}

type arrival struct {
	reader int
	block  backend.Block
	err    error
}

// NewMerger returns a merger of logs, which the caller closes. With follow, blocks are
// returned as they arrive.
func NewMerger(readers []backend.LogReader, follow bool) *Merger {
	m := &Merger{readers: readers, follow: follow, left: len(readers), blocks: make(chan arrival)}
	m.cancel = func() {}
	return m
}

// Next returns the next block and the index of its reader; the block is valid until the next
// call. The error of a reader that fails is returned with its index, once; the reader is then
// left out. At the end of all readers the index is -1 and the error io.EOF.
func (m *Merger) Next(ctx context.Context) (reader int, b backend.Block, err error) {
	if m.follow {
		return m.receive(ctx)
	}
	for ; !m.begun && len(m.readers) > 0; m.begun = m.left == 0 {
		m.left--
		h := head{reader: len(m.readers) - 1 - m.left}
		if more, err := m.fill(ctx, &h); err != nil {
			m.begun = m.left == 0
			return h.reader, b, err
		} else if more {
			heap.Push(&m.heads, h)
		}
	}
	if m.used {
		h := &m.heads[0]
		m.used = false
		partial, i := h.block.Partial, h.reader
		switch more, err := m.fill(ctx, h); {
		case !more:
			heap.Pop(&m.heads)
			if err != nil {
				return i, b, err
			}
		case !partial: // an unfinished line stays in front
			heap.Fix(&m.heads, 0)
		}
	}
	if len(m.heads) == 0 {
		return -1, b, io.EOF
	}
	m.used = true
	return m.heads[0].reader, m.heads[0].block, nil
}

// fill reads the next block of a reader; more is false at its end.
func (m *Merger) fill(ctx context.Context, h *head) (more bool, err error) {
	b, err := m.readers[h.reader].Next(ctx)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	if h.block = b; !b.Time.IsZero() {
		h.at = b.Time // a notice without a time stays where it is
	}
	return err == nil, err
}

// receive returns blocks as they arrive.
func (m *Merger) receive(ctx context.Context) (int, backend.Block, error) {
	m.begin.Do(func() {
		all, cancel := context.WithCancel(context.Background())
		m.cancel = cancel
		for i := range m.readers {
			go m.send(all, i)
		}
	})
	for m.left > 0 {
		select {
		case <-ctx.Done():
			return 0, backend.Block{}, ctx.Err()
		case a := <-m.blocks:
			if a.err != nil {
				m.left--
			}
			if !errors.Is(a.err, io.EOF) {
				return a.reader, a.block, a.err
			}
		}
	}
	return -1, backend.Block{}, io.EOF
}

func (m *Merger) send(ctx context.Context, i int) {
	for {
		b, err := m.readers[i].Next(ctx)
		b.Data = bytes.Clone(b.Data)
		select {
		case m.blocks <- arrival{i, b, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// Stop ends the goroutines of a merger with follow.
func (m *Merger) Stop() { m.cancel() }

// head is the next block of a reader.
type head struct {
	reader int
	block  backend.Block
	at     time.Time
}

// heads orders readers by the time of their next block. It implements heap.Interface.
type heads []head

func (h heads) Len() int { return len(h) }

func (h heads) Less(i, j int) bool {
	if c := h[i].at.Compare(h[j].at); c != 0 {
		return c < 0
	}
	return h[i].reader < h[j].reader
}

func (h heads) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *heads) Push(x any) { *h = append(*h, x.(head)) }

func (h *heads) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

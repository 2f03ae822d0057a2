package logview

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"

	"torchx/runtime/backend"
)

// batch is the number of bytes gathered for one write; more only makes caches miss.
const batch = 128 << 10

// merge writes the inputs' blocks in the order of their times; blocks of the same time in the
// order of the inputs.
func merge(ctx context.Context, w io.Writer, f *formatter) error {
	readers := make([]backend.LogReader, len(f.inputs))
	for i := range f.inputs {
		readers[i] = f.inputs[i].Reader
	}
	m := &merger{f: f, w: w}
	var failed failures
	for blocks := NewMerger(readers, false); ; {
		i, b, err := blocks.Next(ctx)
		switch {
		case err == nil:
			err = m.write(i, b)
		case i < 0:
			f.end()
			if err := m.flush(); err != nil {
				return err
			}
			f.written(f.counts)
			return failed.error()
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			failed.add(f.inputs[i].Input, err)
			err = nil
		}
		if err != nil {
			return err
		}
	}
}

type merger struct {
	f *formatter
	w io.Writer
}

// write formats a block; a large raw one is written without a copy.
func (m *merger) write(i int, b backend.Block) error {
	f := m.f
	if b.Notice == "" && len(b.Data) >= batch/4 && f.raw() {
		at := f.begin(i, b)
		if err := m.flush(); err != nil {
			return err
		}
		f.noteShown(at, b, b.Data)
		if err := f.writeTo(m.w, b.Data); err != nil {
			return err
		}
		f.counts[i]++
		f.written(f.counts)
		return nil
	}
	for part, last := range parts(b) {
		f.add(i, part, last)
		if len(f.out) >= batch {
			if err := m.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// parts cuts a block into pieces of at most batch bytes, if possible after a newline, and
// reports which is the last: this bounds the formatted output of a block.
func parts(b backend.Block) iter.Seq2[backend.Block, bool] {
	return func(yield func(backend.Block, bool) bool) {
		rest, partial := b.Data, b.Partial
		for len(rest) > batch {
			n := bytes.LastIndexByte(rest[:batch], '\n') + 1
			if b.Partial = n == 0; b.Partial {
				n = batch
			}
			b.Data, rest = rest[:n], rest[n:]
			if !yield(b, false) {
				return
			}
		}
		b.Data, b.Partial = rest, partial
		yield(b, true)
	}
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

// raw reports whether bytes are written unchanged.
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

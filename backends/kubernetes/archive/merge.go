package archive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"torchx/runtime/backend"
)

// merged is the log of a pod of several containers: by time when it is not followed,
// else as it comes. Lines of all but the main container begin with its name, as
// TorchX has it. Lines are counted over all of them.
type merged struct {
	o        backend.LogOptions
	inputs   []*input
	line     int64 // whole lines so far
	skip     int64 // lines to leave out
	blocks   chan arrived
	cancel   context.CancelFunc
	begin    sync.Once
	left     int // inputs that go on
	from     int // the input of the last block that was pulled
	closeAll sync.Once
}

// input is the log of one container.
type input struct {
	backend.LogReader
	prefix string // "" for the main one
	middle bool   // within a line
	head   *backend.Block
	over   bool
}

type arrived struct {
	backend.Block
	err error
}

// openMerged opens the logs of the main container and of the others.
func openMerged(others []string, open func(container string, o backend.LogOptions) (backend.LogReader, error), o backend.LogOptions) (backend.LogReader, error) {
	m := &merged{o: o}
	each := o
	each.FromLine, each.ToLine, each.Partial = 0, 0, false
	m.skip = max(0, o.FromLine-1)
	var last []int64
	if o.Follow && o.Tail >= 0 {
		var err error
		if last, err = shares(others, open, o); err != nil {
			return nil, err
		}
	}
	for i, name := range append([]string{""}, others...) {
		if last != nil {
			each.Tail = last[i]
		}
		r, err := open(name, each)
		if err != nil {
			m.Close()
			return nil, err
		}
		in := &input{LogReader: r}
		if name != "" {
			in.prefix = name + " "
		}
		m.inputs = append(m.inputs, in)
	}
	m.left = len(m.inputs)
	if o.Tail < 0 || o.Follow {
		return m, nil
	}
	lines, err := m.count(others, open, each)
	if err != nil {
		m.Close()
		return nil, err
	}
	m.skip = max(m.skip, lines-o.Tail)
	return m, nil
}

// shares is how many of the last lines that there are of all inputs are each one's.
// What comes until they are followed takes the place of the oldest of its own input.
func shares(others []string, open func(container string, o backend.LogOptions) (backend.LogReader, error), o backend.LogOptions) ([]int64, error) {
	o.Follow, o.Partial = false, false
	r, err := openMerged(others, open, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	m := r.(*merged)
	n := make([]int64, len(m.inputs))
	for {
		b, err := m.Next(context.Background())
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return nil, err
		}
		n[m.from] += int64(bytes.Count(b.Data, newline))
	}
}

// count is how many lines the inputs have together.
func (m *merged) count(others []string, open func(container string, o backend.LogOptions) (backend.LogReader, error), o backend.LogOptions) (n int64, err error) {
	for _, name := range append([]string{""}, others...) {
		r, err := open(name, o)
		if err != nil {
			return 0, err
		}
		for b, err := r.Next(context.Background()); err == nil; b, err = r.Next(context.Background()) {
			n += int64(bytes.Count(b.Data, newline))
			if len(b.Data) > 0 && !bytes.HasSuffix(b.Data, newline) && !b.Partial {
				n++
			}
		}
		r.Close()
	}
	return n, nil
}

var newline = []byte{'\n'}

// Next implements backends.LogReader.
func (m *merged) Next(ctx context.Context) (backend.Block, error) {
	for {
		b, err := m.pull(ctx)
		if err != nil {
			return b, err
		}
		if b.Notice != "" {
			return b, nil
		}
		if m.o.ToLine > 0 && m.line >= m.o.ToLine {
			return backend.Block{}, io.EOF
		}
		if b = m.cut(b); len(b.Data) > 0 {
			return b, nil
		}
	}
}

// cut leaves the lines of a block that are selected.
func (m *merged) cut(b backend.Block) backend.Block {
	var kept []byte
	for line := range bytes.Lines(b.Data) {
		m.line++
		if m.line > m.skip && (m.o.ToLine == 0 || m.line <= m.o.ToLine) {
			kept = append(kept, line...)
		}
	}
	if b.Partial {
		m.line-- // it goes on
	}
	b.Data = kept
	return b
}

func (m *merged) pull(ctx context.Context) (backend.Block, error) {
	if m.o.Follow {
		return m.receive(ctx)
	}
	first := (*input)(nil)
	for i, in := range m.inputs {
		if err := in.fill(ctx); err != nil {
			return backend.Block{}, err
		}
		if in.head != nil && (first == nil || in.head.Time.Before(first.head.Time)) {
			first, m.from = in, i
		}
	}
	if first == nil {
		return backend.Block{}, io.EOF
	}
	b := *first.head
	first.head = nil
	return b, nil
}

// fill reads the next block of an input that has none.
func (in *input) fill(ctx context.Context) error {
	if in.head != nil || in.over {
		return nil
	}
	b, err := in.next(ctx)
	switch {
	case errors.Is(err, io.EOF):
		in.over = true
		return nil
	case err == nil:
		in.head = &b
	}
	return err
}

// next is a block with the input's prefix, and data of its own.
func (in *input) next(ctx context.Context) (backend.Block, error) {
	b, err := in.Next(ctx)
	if err != nil || len(b.Data) == 0 {
		return b, err
	}
	var data []byte
	for line := range bytes.Lines(b.Data) {
		if !in.middle {
			data = append(data, in.prefix...)
		}
		data = append(data, line...)
		in.middle = !bytes.HasSuffix(line, newline)
	}
	if in.middle && !b.Partial { // another container's line must not stand behind it
		data, in.middle = append(data, '\n'), false
	}
	b.Data = data
	return b, nil
}

// receive hands out blocks as they come.
func (m *merged) receive(ctx context.Context) (backend.Block, error) {
	m.begin.Do(func() {
		all, cancel := context.WithCancel(context.Background())
		m.blocks, m.cancel = make(chan arrived), cancel
		for _, in := range m.inputs {
			go m.send(all, in)
		}
	})
	for m.left > 0 {
		select {
		case <-ctx.Done():
			return backend.Block{}, ctx.Err()
		case a := <-m.blocks:
			if !errors.Is(a.err, io.EOF) {
				return a.Block, a.err
			}
			m.left--
		}
	}
	return backend.Block{}, io.EOF
}

func (m *merged) send(ctx context.Context, in *input) {
	for {
		b, err := in.next(ctx)
		select {
		case m.blocks <- arrived{b, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// Close implements io.Closer.
func (m *merged) Close() error {
	var errs []error
	m.closeAll.Do(func() {
		if m.cancel != nil {
			m.cancel()
		}
		for _, in := range m.inputs {
			errs = append(errs, in.Close())
		}
	})
	return errors.Join(errs...)
}

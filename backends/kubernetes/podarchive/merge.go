package podarchive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"torchx/runtime/backend"
	"torchx/runtime/logview"
)

// merged is the log of a pod with several containers: sorted by time, or if it is followed,
// in the order of arrival. Lines of all but the main container begin with the container's
// name, as in TorchX. Line numbers count the lines of all containers.
type merged struct {
	*logview.Merger
	readers  []backend.LogReader
	prefixes []string // "" for the main container
	middle   []bool   // within a line
	line     int64    // number of complete lines so far
	skip, to int64    // the selected lines are skip+1 to to; to is 0 without an end
	closeAll sync.Once
}

type openFunc func(container string, o backend.LogOptions) (backend.LogReader, error)

// openMerged opens the logs of several containers; "" is the main one.
func openMerged(names []string, open openFunc, o backend.LogOptions) (_ *merged, err error) {
	m := &merged{skip: max(0, o.FromLine-1), to: o.ToLine, middle: make([]bool, len(names))}
	each := o
	each.FromLine, each.ToLine, each.Partial = 0, 0, false
	var tails []int64
	if o.Follow && o.Tail >= 0 {
		if tails, err = shares(names, open, o); err != nil {
			return nil, err
		}
	}
	var lines int64
	for i, name := range names {
		if tails != nil {
			each.Tail = tails[i]
		}
		prefix := ""
		if name != "" {
			prefix = name + " "
		}
		r, err := open(name, each)
		if err == nil {
			m.readers, m.prefixes = append(m.readers, r), append(m.prefixes, prefix)
			if o.Tail >= 0 && !o.Follow {
				var n int64
				n, err = count(name, open, each)
				lines += n
			}
		}
		if err != nil {
			return nil, errors.Join(err, m.Close())
		}
	}
	if o.Tail >= 0 && !o.Follow {
		m.skip = max(m.skip, lines-o.Tail)
	}
	m.Merger = logview.NewMerger(m.readers, o.Follow)
	return m, nil
}

// shares returns how many of the last lines of all containers belong to each container. If
// lines arrive before the containers are followed, they replace the oldest of their container.
func shares(names []string, open openFunc, o backend.LogOptions) ([]int64, error) {
	o.Follow, o.Partial = false, false
	m, err := openMerged(names, open, o)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	n := make([]int64, len(names))
	for {
		i, b, err := m.next(context.Background())
		switch {
		case errors.Is(err, io.EOF):
			return n, nil
		case err != nil:
			return nil, err
		}
		n[i] += int64(bytes.Count(b.Data, newline))
	}
}

// count returns the number of lines of a container.
func count(name string, open openFunc, o backend.LogOptions) (n int64, err error) {
	r, err := open(name, o)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for b, err := r.Next(context.Background()); err == nil; b, err = r.Next(context.Background()) {
		n += int64(bytes.Count(b.Data, newline))
		if len(b.Data) > 0 && !bytes.HasSuffix(b.Data, newline) && !b.Partial {
			n++
		}
	}
	return n, nil
}

var newline = []byte{'\n'}

// Next implements backend.LogReader.
func (m *merged) Next(ctx context.Context) (backend.Block, error) {
	_, b, err := m.next(ctx)
	return b, err
}

// next returns the selected lines of the next block, and the index of their container.
func (m *merged) next(ctx context.Context) (int, backend.Block, error) {
	for {
		i, b, err := m.Merger.Next(ctx)
		if err != nil || b.Notice != "" {
			return i, b, err
		}
		if m.to > 0 && m.line >= m.to {
			return i, backend.Block{}, io.EOF
		}
		if b.Data = m.lines(i, b); len(b.Data) > 0 {
			return i, b, nil
		}
	}
}

// lines returns the selected lines of a block, with the prefix of their container.
func (m *merged) lines(i int, b backend.Block) (kept []byte) {
	for line := range bytes.Lines(b.Data) {
		m.line++
		if m.line > m.skip && (m.to == 0 || m.line <= m.to) {
			if !m.middle[i] {
				kept = append(kept, m.prefixes[i]...)
			}
			kept = append(kept, line...)
		}
		m.middle[i] = !bytes.HasSuffix(line, newline)
	}
	switch {
	case b.Partial:
		m.line-- // the line continues in the next block
	case m.middle[i]: // another container's line must not continue it
		m.middle[i] = false
		if len(kept) > 0 && m.line > m.skip && (m.to == 0 || m.line <= m.to) {
			kept = append(kept, '\n')
		}
	}
	return kept
}

// Close implements io.Closer.
func (m *merged) Close() error {
	var errs []error
	m.closeAll.Do(func() {
		if m.Merger != nil {
			m.Stop()
		}
		for _, r := range m.readers {
			errs = append(errs, r.Close())
		}
	})
	return errors.Join(errs...)
}

package api

import (
	"bytes"
	"context"
	"regexp"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/logview"
	"torchx/runtime/runner"
)

// Limits of a search.
const (
	maxFound   = 10_000
	searchTime = 20 * time.Second
)

// search returns the lines that match a pattern.
func (a *API) search(
	ctx context.Context, handle string, q *LogQuery, re *regexp.Regexp,
) (*Search, error) {
	o, err := a.openLog(ctx, handle, q)
	if err != nil {
		return nil, err
	}
	defer runner.CloseLogs(o.inputs)
	f := &finder{match: logview.NewMatcher(re), result: Search{Lines: []int64{}, Complete: true}}
	f.open = make([][3][]byte, len(o.inputs))
	deadline := time.Now().Add(searchTime)
	merger := logview.NewMerger(o.readers(), false)
	for {
		i, b, err := merger.Next(ctx)
		switch {
		case i < 0:
			f.flush()
			return f.found(), nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil || b.Notice != "":
			continue // the window shows what is missing
		}
		f.number += b.Skipped
		f.block(&f.open[i][streamIndex(b.Stream)], b)
		if time.Now().After(deadline) {
			f.result.Complete = false
			return f.found(), nil
		}
	}
}

// finder counts lines and those that match.
type finder struct {
	match  *logview.Matcher
	number int64
	open   [][3][]byte // by input and stream: the start of a line
	result Search
}

func (f *finder) found() *Search {
	f.result.Scanned = f.number
	return &f.result
}

// maxOpen is the number of bytes of a line in which a pattern is searched.
const maxOpen = 8 << 20

// block searches a block; open is the start of its first line.
func (f *finder) block(open *[]byte, b backend.Block) {
	data := b.Data
	if len(*open) > 0 {
		n := bytes.IndexByte(data, '\n') + 1
		if n == 0 {
			n = len(data)
		}
		if len(*open) < maxOpen {
			*open = append(*open, data[:n]...)
		}
		if data = data[n:]; len(data) == 0 && b.Partial &&
			!bytes.HasSuffix(b.Data[:n], []byte{'\n'}) {
			return
		}
		f.whole(*open)
		*open = (*open)[:0]
	}
	if b.Partial {
		n := bytes.LastIndexByte(data, '\n') + 1
		*open = append(*open, data[n:]...)
		data = data[:n]
	}
	f.whole(data)
}

// whole searches whole lines; the last may lack its end.
func (f *finder) whole(data []byte) {
	passed := 0
	f.match.Runs(data, func(run []byte) {
		at := cap(data) - cap(run) // run is a part of data
		f.number += int64(bytes.Count(data[passed:at], []byte{'\n'}))
		for range bytes.Lines(run) {
			f.number++
			f.result.Count++
			if len(f.result.Lines) < maxFound {
				f.result.Lines = append(f.result.Lines, f.number)
			}
		}
		passed = at + len(run)
	})
	rest := data[passed:]
	f.number += int64(bytes.Count(rest, []byte{'\n'}))
	if len(rest) > 0 && rest[len(rest)-1] != '\n' {
		f.number++
	}
}

func (f *finder) flush() {
	for i := range f.open {
		for j := range f.open[i] {
			f.whole(f.open[i][j])
		}
	}
}

package podarchive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/logstore"
)

// record is a record of a container's log file in the logging format of CRI. A partial line
// has no newline.
type record struct {
	time time.Time
	text string
}

// fake is a container whose log is sent as by the kubelet (ReadLogs in k8s.io/cri-client),
// over a network that cuts streams at random.
type fake struct {
	mu      sync.Mutex
	rand    *rand.Rand
	records []record
	first   int // of the file; earlier records were rotated away
	state   logcopy.State
	changed chan struct{}
	opened  int
	ended   int    // number of calls of Open with Ended
	polled  int    // number of calls of State
	cut     int    // the higher, the fewer streams are cut; 0: none is cut
	body    string // sent instead of the log, "" for the log
	eof     bool   // streams end at the end of the file
}

// await waits until ok returns true.
func (f *fake) await(ok func() bool) {
	for {
		f.mu.Lock()
		done := ok()
		f.mu.Unlock()
		if done {
			return
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func newFake(seed uint64) *fake {
	return &fake{rand: rand.New(rand.NewPCG(seed, 1)), state: logcopy.Running, changed: make(chan struct{})}
}

func (f *fake) update(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fake) write(r ...record) { f.update(func() { f.records = append(f.records, r...) }) }

func (f *fake) State() (logcopy.State, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.polled++
	return f.state, f.changed
}

var errNetwork = errors.New("connection reset by peer")

func (f *fake) Open(ctx context.Context, o logcopy.Options) (logcopy.Stream, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened++
	if o.AfterEOF {
		f.ended++
	}
	switch f.state {
	case logcopy.Waiting:
		return nil, logcopy.ErrNotStarted
	case logcopy.Gone:
		return nil, logcopy.ErrGone
	}
	s := &stream{fake: f, ctx: ctx, o: o, at: f.first, newLine: true, left: -1}
	if f.cut > 0 {
		switch f.rand.IntN(f.cut + 5) {
		case 0:
			return nil, errNetwork
		case 1:
			s.left, s.end = f.rand.IntN(300), io.EOF // e.g. by a proxy
		case 2:
			s.left, s.end = f.rand.IntN(300), io.EOF
			s.body = "failed to watch file \"/var/log\": too many open files"
		case 3, 4:
			s.left, s.end = f.rand.IntN(3000), errNetwork
		}
		if !o.Follow && errors.Is(s.end, io.EOF) && s.body == "" {
			s.end = errNetwork // length or chunks show that it was cut
		}
	}
	if f.body != "" {
		s.left, s.end, s.body = 0, io.EOF, f.body
	}
	return NewStream(s, !o.Since.IsZero()), nil
}

// stream is one response.
type stream struct {
	fake    *fake
	ctx     context.Context
	o       logcopy.Options
	at      int
	newLine bool
	out     []byte
	left    int // bytes until it is cut; < 0: never
	end     error
	body    string // sent where it is cut
	sent    bool
}

func (s *stream) Read(p []byte) (int, error) {
	for {
		changed, ended := s.fill()
		if s.left == 0 {
			if s.body != "" && !s.sent && errors.Is(s.end, io.EOF) {
				s.sent = true
				return copy(p, s.body), nil
			}
			return 0, s.end
		}
		if len(s.out) > 0 {
			n := min(len(p), len(s.out))
			if s.left > 0 {
				n = min(n, s.left)
				s.left -= n
			}
			copy(p, s.out[:n])
			s.out = s.out[n:]
			if s.left == 0 && s.body != "" && p[n-1] != '\n' {
				s.end = errNetwork // the kubelet fails only between records
			}
			return n, nil
		}
		if ended {
			return 0, io.EOF
		}
		select {
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		case <-changed:
		}
	}
}

// fill adds the new records of the file to out.
func (s *stream) fill() (changed <-chan struct{}, ended bool) {
	f := s.fake
	f.mu.Lock()
	defer f.mu.Unlock()
	s.at = max(s.at, f.first)
	for ; s.at < len(f.records); s.at++ {
		r := f.records[s.at]
		if !r.time.Before(s.o.Since.Truncate(time.Second)) {
			if s.newLine {
				s.out = append(append(s.out, r.time.Format("2006-01-02T15:04:05.000000000Z07:00")...), ' ')
			}
			s.out = append(s.out, r.text...)
		}
		s.newLine = r.text == "" || r.text[len(r.text)-1] == '\n'
	}
	return f.changed, !s.o.Follow || f.eof || f.state >= logcopy.Ended
}

func (s *stream) Close() error { return nil }

// sink is a log copy that can be truncated like a file after a kill.
type sink struct {
	data  bytes.Buffer
	at    map[int64]time.Time // by offset
	gaps  []string
	pos   *logcopy.LinePosition
	saved logcopy.LineCursor
}

func (k *sink) Size() int64 { return int64(k.data.Len()) }

func (k *sink) Sizes() [2]int64 { return [2]int64{k.Size()} }

func (k *sink) Last() time.Time { return time.Time{} }

func (k *sink) Write(_ logstore.Stream, t time.Time, p []byte) error {
	if k.at == nil {
		k.at = map[int64]time.Time{}
	}
	k.at[k.Size()] = t
	k.data.Write(p)
	return nil
}

func (k *sink) Gap(text string) error {
	k.gaps = append(k.gaps, text)
	if n := k.data.Len(); n > 0 && k.data.Bytes()[n-1] != '\n' {
		k.data.WriteByte('\n')
	}
	return nil
}

func (k *sink) Commit(bool, bool) error {
	c := k.pos.Cursor
	if c.Offset > k.Size() {
		return fmt.Errorf("cursor %+v is after the end %d", c, k.Size())
	}
	k.saved = c
	return nil
}

// quick is Mode with short times.
func quick(follow bool) logcopy.Mode {
	m := Mode(follow, 0)
	m.Timing = logcopy.Timing{
		Backoff: 10 * time.Microsecond, MaxBackoff: time.Millisecond, ResetAfter: time.Hour, SearchTimeout: 5 * time.Millisecond,
		IdleTimeout: 20 * time.Millisecond, MaxIdleTimeout: 100 * time.Millisecond, EndTimeout: 10 * time.Millisecond,
	}
	return m
}

// copyTo continues the copy in k.
func copyTo(ctx context.Context, f *fake, k *sink, m logcopy.Mode) (bool, error) {
	k.pos = logcopy.NewLinePosition(k.saved, k.Size())
	return logcopy.Copy(ctx, f, k, k.pos, m)
}

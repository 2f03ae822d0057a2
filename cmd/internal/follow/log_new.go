package follow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

const (
	// saveEvery is how often a follower's positions are recorded: a reader that is
	// killed sees at most so much again.
	saveEvery = time.Second
	// saveTimeout bounds the last recording after Ctrl-C.
	saveTimeout = 5 * time.Second
)

// lookout is one `log --new`: it knows where each replica's log was left, and
// records how far it has come. It is the state of one stream of one app: `--new`
// with other replicas goes on where each of those was left, with another stream
// (stdout, stderr, combined) there are other positions.
type lookout struct {
	*program.Factory
	runner *runner.Runner
	ref    runner.Ref
	stream backend.Stream
	whole  bool // lines are shown whole only
	lined  bool // lines get prefixes
	follow bool
	status *spec.Status // of the app before its logs were opened; nil: not known

	lost   bool // there is no history to keep positions in
	warned bool
	from   map[spec.Replica]position
	logs   []*newLines
	keys   []string // of logs
	saved  map[string]position
	ending sync.WaitGroup
}

func newLookout(ctx context.Context, t *program.Factory, r *runner.Runner, target LogTarget, q LogQuery, ls LogStyle) *lookout {
	l := &lookout{
		Factory: t, runner: r, ref: target.Ref, stream: q.Read.Stream, whole: ls.JSON || q.Regex != nil,
		lined: ls.Prefix || ls.Timestamps, follow: q.Read.Follow, from: map[spec.Replica]position{}, saved: map[string]position{},
	}
	if l.stream == "" {
		l.stream = backend.Combined
	}
	if s, err := r.Status(ctx, target.Ref); err == nil {
		l.status = s
	}
	switch {
	case r.History == nil:
		l.lose(errors.New("there is no history"))
	case r.History.ReadOnly():
		l.lose(errors.New("the history cannot be written"))
	}
	return l
}

// lose gives up on positions: the whole log is better than a part of it.
func (l *lookout) lose(cause error) {
	if l.lost = true; !l.warned {
		l.warned = true
		l.Warn("what was seen before is not known, so everything is printed: %v", cause)
	}
}

func (l *lookout) key(r spec.Replica) string {
	return fmt.Sprintf("log-new/%s/%d/%s", r.Role, r.ID, l.stream)
}

// options makes a replica's log be read from where it was left.
func (l *lookout) options(ctx context.Context, r spec.Replica, o backend.LogOptions) backend.LogOptions {
	o.AllAttempts = true
	var p position
	if !l.lost {
		text, ok, err := l.runner.History.GetPosition(ctx, l.ref.Backend, l.ref.ID, l.key(r))
		if err == nil && ok {
			err = json.Unmarshal([]byte(text), &p)
		}
		if err != nil {
			l.lose(err)
			p = position{}
		}
	}
	l.from[r] = p
	o.Attempt, o.FromLine = &p.Attempt, p.Lines+1
	return o
}

// reader keeps account of what is read of a replica's log.
func (l *lookout) reader(in runner.LogInput) backend.LogReader {
	r := spec.Replica{Role: in.Role, ID: in.ID}
	n := newNewLines(in.Reader, l.from[r])
	n.whole, n.lined, n.tail = l.whole, l.lined, l.tail(r)
	l.logs, l.keys = append(l.logs, n), append(l.keys, l.key(r))
	l.saved[l.key(r)] = l.from[r]
	return n
}

// tail is the first attempt of a replica that may go on.
func (l *lookout) tail(r spec.Replica) int {
	const none = 1 << 30
	if l.status == nil || l.status.State.Terminal() || l.follow {
		return none
	}
	if rs := l.status.Replica(r); rs != nil {
		return rs.Attempt
	}
	return 0
}

// written is told what has been dealt with.
func (l *lookout) written(blocks []int64) {
	for i, n := range blocks {
		l.logs[i].written(n)
	}
}

// keepSaving records positions now and then until the returned function is called.
func (l *lookout) keepSaving() (stop func()) {
	if !l.follow || l.lost {
		return func() {}
	}
	over := make(chan struct{})
	l.ending.Go(func() {
		tick := time.NewTicker(saveEvery)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				l.save(context.Background())
			}
		}
	})
	return func() {
		close(over)
		l.ending.Wait()
	}
}

// end records how far the reading came. Where nobody reads the output any more,
// what was in the pipe is lost: all of it will be shown again.
func (l *lookout) end(ctx context.Context, err error) {
	if program.IsBrokenPipe(err) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	l.save(ctx)
}

// save records the positions that have changed.
func (l *lookout) save(ctx context.Context) {
	if l.lost {
		return
	}
	texts := map[string]string{}
	changed := map[string]position{}
	for i, n := range l.logs {
		p, before := n.reached(), l.saved[l.keys[i]]
		if p.equal(&before) {
			continue
		}
		text, err := json.Marshal(p)
		if err != nil {
			return // numbers always encode
		}
		texts[l.keys[i]], changed[l.keys[i]] = string(text), p
	}
	if len(texts) == 0 {
		return
	}
	if err := l.runner.History.SetPositions(ctx, l.ref.Backend, l.ref.ID, texts); err != nil {
		if !l.warned {
			l.warned = true
			l.Warn("what was seen now will be printed again by the next --new: %v", err)
		}
		return
	}
	for k, p := range changed {
		l.saved[k] = p
	}
}

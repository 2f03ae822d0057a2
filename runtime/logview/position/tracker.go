package position

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

const (
	// saveInterval is how often positions are recorded while following: after a kill, at most
	// the output of this time is printed again.
	saveInterval = time.Second
	// saveTimeout limits the last recording after Ctrl-C.
	saveTimeout = 5 * time.Second
)

// Config describes what a Tracker tracks.
type Config struct {
	History history.Store // nil: none, everything is printed
	App     history.AppKey
	Stream  backend.Stream // "" is combined
	Lines   Lines
	Follow  bool
	Status  *spec.Status // of the app before its logs were opened; nil if not known
	Warn    func(format string, args ...any)
}

// Tracker finds and records the positions of one app's replicas in one stream. Each
// stream (stdout, stderr, combined) has its own positions.
type Tracker struct {
	Config
	disabled bool // positions cannot be read or recorded
	warned   bool
	start    map[spec.Replica]Position
	logs     []*tracked
}

// tracked is the log of one replica.
type tracked struct {
	*Reader
	key   string
	saved Position
}

// NewTracker returns a tracker. Without a history that can be written it warns and
// tracks nothing: the whole log is better than a part of it.
func NewTracker(c Config) *Tracker {
	if c.Stream == "" {
		c.Stream = backend.Combined
	}
	t := &Tracker{Config: c, start: map[spec.Replica]Position{}}
	switch {
	case c.History == nil:
		t.disable(errors.New("no history"))
	case c.History.ReadOnly():
		t.disable(errors.New("the history cannot be written"))
	}
	return t
}

func (t *Tracker) disable(cause error) {
	t.disabled = true
	t.warnOnce("the previous position is not known, so all lines are printed: %v", cause)
}

func (t *Tracker) warnOnce(format string, cause error) {
	if !t.warned {
		t.warned = true
		t.Warn(format, cause)
	}
}

func (t *Tracker) key(r spec.Replica) string {
	return fmt.Sprintf("log-new/%s/%d/%s", r.Role, r.ID, t.Stream)
}

// Options returns o with the log of a replica starting at its recorded position.
func (t *Tracker) Options(
	ctx context.Context, r spec.Replica, o backend.LogOptions,
) backend.LogOptions {
	var p Position
	if !t.disabled {
		text, ok, err := t.History.GetPosition(ctx, t.App.Backend, t.App.ID, t.key(r))
		if err == nil && ok {
			err = json.Unmarshal([]byte(text), &p)
		}
		if err != nil {
			t.disable(err)
			p = Position{}
		}
	}
	t.start[r] = p
	o.AllAttempts, o.Attempt, o.FromLine = true, &p.Attempt, p.Lines+1
	return o
}

// Reader returns a reader of a replica's log that was opened with its Options.
func (t *Tracker) Reader(r spec.Replica, log backend.LogReader) backend.LogReader {
	from := t.start[r]
	t.logs = append(t.logs, &tracked{NewReader(log, from, t.Lines, t.growing(r)), t.key(r), from})
	return t.logs[len(t.logs)-1].Reader
}

// growing returns the first attempt of a replica that may write after this reading.
func (t *Tracker) growing(r spec.Replica) int {
	if t.Status == nil || t.Status.State.Terminal() || t.Follow {
		return math.MaxInt
	}
	if rs := t.Status.Replica(r); rs != nil {
		return rs.Attempt
	}
	return 0
}

// Written records how many blocks of each reader are written, in the order of the readers.
func (t *Tracker) Written(blocks []int64) {
	for i, n := range blocks {
		t.logs[i].Written(n)
	}
}

// KeepSaving records positions every second, when following, until stop is called.
func (t *Tracker) KeepSaving() (stop func()) {
	if !t.Follow || t.disabled {
		return func() {}
	}
	done := make(chan struct{})
	var saver sync.WaitGroup
	saver.Go(func() {
		tick := time.NewTicker(saveInterval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				t.save(context.Background())
			}
		}
	})
	return func() {
		close(done)
		saver.Wait()
	}
}

// Save records the positions that have changed, also after ctx was canceled.
func (t *Tracker) Save(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	t.save(ctx)
}

func (t *Tracker) save(ctx context.Context) {
	if t.disabled {
		return
	}
	texts := map[string]string{}
	changed := map[*tracked]Position{}
	for _, l := range t.logs {
		p := l.Position()
		if p.equal(&l.saved) {
			continue
		}
		text, err := json.Marshal(p)
		if err != nil {
			return // numbers always encode
		}
		texts[l.key], changed[l] = string(text), p
	}
	if len(texts) == 0 {
		return
	}
	if err := t.History.SetPositions(ctx, t.App.Backend, t.App.ID, texts); err != nil {
		t.warnOnce("the next --new prints these lines again: %v", err)
		return
	}
	for l, p := range changed {
		l.saved = p
	}
}

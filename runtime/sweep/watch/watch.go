// Package watch follows the metrics of a sweep's trials, and tells the controller which trials to
// stop early and when the goal of the sweep is met.
//
//	folders of trials ─► metrics.Follower ─► best value, policy.Rule, condition ─► verdicts
//
// Each point is read once. A pass over the trials that run takes a small share of the time, and
// what is kept of a trial that has ended is what its rule needs. Nothing is stored: a controller
// that was killed reads the folders again.
package watch

import (
	"fmt"
	"log"
	"math"
	"sync"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/metrics"
	"torchx/runtime/sweep"
	"torchx/runtime/sweep/policy"
)

const (
	passEvery = 500 * time.Millisecond
	passShare = 20 // a pass may take a twentieth of the time
)

// Watch implements sweep.Watcher.
type Watch struct {
	rules     sweep.Rules
	names     []string              // metrics that are followed
	metric    int                   // index of the sweep's metric in names, -1 if it has none
	condition *history.MetricFilter // nil: none
	goal      int                   // index of its metric
	rule      policy.Rule           // nil: none
	log       *log.Logger           // problems, once per trial

	mu      sync.Mutex
	started bool
	done    bool // the condition was met
	trials  map[int]*trial
	queue   []sweep.Verdict

	verdicts chan sweep.Verdict
	wake     chan struct{}
	closing  chan struct{}
	closed   chan struct{}
}

var _ sweep.Watcher = (*Watch)(nil)

// New returns a watcher, nil if the rules of a sweep need none. Errors: those of the rules.
func New(r sweep.Rules, l *log.Logger) (*Watch, error) {
	w := &Watch{
		rules: r, metric: -1, log: l, trials: map[int]*trial{}, verdicts: make(chan sweep.Verdict),
		wake: make(chan struct{}, 1), closing: make(chan struct{}), closed: make(chan struct{}),
	}
	if r.Metric != "" {
		w.metric, w.names = 0, []string{r.Metric}
	}
	if r.StopWhen != "" {
		c, err := ParseCondition(r.StopWhen)
		if err != nil {
			return nil, err
		}
		w.condition = &c
		if w.goal = 0; c.Name != r.Metric {
			w.goal, w.names = len(w.names), append(w.names, c.Name)
		}
	}
	if r.EarlyStop != "" && r.Metric != "" {
		rule, err := policy.ParseRule(r.EarlyStop)
		if err != nil {
			return nil, err
		}
		w.rule = rule
	}
	if len(w.names) == 0 {
		return nil, nil //nolint:nilnil // none is needed
	}
	go w.run()
	return w, nil
}

// Begin implements sweep.Watcher.
func (w *Watch) Begin(number int, folder string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trials[number] = newTrial(metrics.Follow(folder, w.names...), w.started)
	w.awake()
}

// End implements sweep.Watcher.
func (w *Watch) End(number int) (*sweep.Value, *sweep.Verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.trials[number]
	if t == nil {
		return nil, nil
	}
	delete(w.trials, number)
	w.read(number, t)
	if !w.started {
		return t.best, nil
	}
	return t.best, w.met(number, t)
}

// Start implements sweep.Watcher.
func (w *Watch) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = true
	w.awake()
}

// Verdicts implements sweep.Watcher.
func (w *Watch) Verdicts() <-chan sweep.Verdict { return w.verdicts }

// Close implements sweep.Watcher.
func (w *Watch) Close() {
	close(w.closing)
	<-w.closed
}

// awake makes run notice a change.
func (w *Watch) awake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run makes a pass now and then while trials run.
func (w *Watch) run() {
	defer close(w.closed)
	timer := time.NewTimer(passEvery)
	timer.Stop()
	isSet := false
	for {
		isBusy, next := w.next()
		if isBusy && !isSet {
			timer.Reset(passEvery)
			isSet = true
		}
		var out chan<- sweep.Verdict
		var first sweep.Verdict
		if next != nil {
			out, first = w.verdicts, *next
		}
		select {
		case <-w.closing:
			timer.Stop()
			return
		case <-w.wake:
		case out <- first:
			w.taken()
		case <-timer.C:
			begun := time.Now()
			w.pass()
			timer.Reset(max(passEvery, passShare*time.Since(begun)))
			isSet = true
			if isBusy, _ := w.next(); !isBusy {
				timer.Stop()
				isSet = false
			}
		}
	}
}

// next returns whether trials are left to read, and the next verdict to deliver.
func (w *Watch) next() (isBusy bool, v *sweep.Verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		v = &w.queue[0]
	}
	return w.started && len(w.trials) > 0, v
}

func (w *Watch) taken() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = w.queue[1:]
}

// pass reads what is new of all trials that run, then judges them if one has reported something: it
// is compared with all others. It holds the lock for one trial at a time.
func (w *Watch) pass() {
	w.mu.Lock()
	numbers := make([]int, 0, len(w.trials))
	for number := range w.trials {
		numbers = append(numbers, number)
	}
	w.mu.Unlock()
	hasChanged := false
	for _, number := range numbers {
		hasChanged = w.readTrial(number) || hasChanged
	}
	if w.rule == nil || !hasChanged {
		return
	}
	for _, number := range numbers {
		w.judgeTrial(number)
	}
}

// readTrial reports whether the rule has to judge again.
func (w *Watch) readTrial(number int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.trials[number]
	if t == nil {
		return false // it has ended
	}
	w.read(number, t)
	if v := w.met(number, t); v != nil {
		w.queue = append(w.queue, *v)
	}
	hasChanged := t.changed || !t.judged
	t.changed = false
	return hasChanged
}

func (w *Watch) judgeTrial(number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.trials[number]
	if t == nil || t.stopped {
		return
	}
	if reason := w.judge(number, t); reason != "" {
		w.queue = append(w.queue, sweep.Verdict{Trial: number, Reason: reason})
	}
}

// judge returns why a trial should stop by the rule, "" if it should not.
func (w *Watch) judge(number int, t *trial) string {
	reason := w.rule.Judge(number)
	if !t.judged { // of what it had reported before the start
		t.judged = true
		return ""
	}
	if t.stopped = reason != ""; t.stopped {
		return fmt.Sprintf("early stop: %s is %s", w.rules.Metric, reason)
	}
	return ""
}

// signed returns a value of which less is better.
func (w *Watch) signed(value float64) float64 {
	if w.rules.Goal == sweep.Max {
		return -value
	}
	return value
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

package sweep

import (
	"fmt"
	"log"
	"math"
	"sync"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/metrics"
	"torchx/runtime/sweep"
)

const (
	passEvery = 500 * time.Millisecond
	passShare = 20 // a pass may take a twentieth of the time
)

// metricValue is a value of a metric.
type metricValue struct {
	Value float64
	Step  *int64 // nil: it has none
}

// verdict is what follows from metrics: one trial is stopped, or the whole sweep.
type verdict struct {
	Trial  int  // the trial to stop, or which met --stop-when
	Done   bool // the goal of the sweep is met: nothing else is needed
	Reason string
}

// watcher follows the metrics of trials for the controller of a sweep, which calls it from one
// goroutine, and tells it which trials to stop early and when the goal of the sweep is met.
//
//	folders of trials ─► metrics.Follower ─► best value, sweep.StopRule, condition ─► verdicts
//
// Each point is read once. A pass over the trials that run takes a small share of the time, and
// what is kept of a trial that has ended is what its rule needs. Nothing is stored: a controller
// that was killed reads the folders again.
type watcher struct {
	rules     sweep.Rules
	names     []string              // metrics that are followed
	metric    int                   // index of the sweep's metric in names, -1 if it has none
	condition *history.MetricFilter // nil: none
	goal      int                   // index of its metric
	rule      sweep.StopRule        // nil: none
	log       *log.Logger           // problems, once per trial

	mu      sync.Mutex
	started bool
	done    bool // the condition was met
	trials  map[int]*watched
	queue   []verdict

	verdicts chan verdict
	wake     chan struct{}
	closing  chan struct{}
	closed   chan struct{}
}

// newWatcher returns a watcher, nil if the rules of a sweep need none. Errors: those of the rules.
func newWatcher(r sweep.Rules, l *log.Logger) (*watcher, error) {
	w := &watcher{
		rules: r, metric: -1, log: l, trials: map[int]*watched{}, verdicts: make(chan verdict),
		wake: make(chan struct{}, 1), closing: make(chan struct{}), closed: make(chan struct{}),
	}
	if r.Metric != "" {
		w.metric, w.names = 0, []string{r.Metric}
	}
	if r.StopWhen != "" {
		c, err := parseCondition(r.StopWhen)
		if err != nil {
			return nil, err
		}
		w.condition = &c
		if w.goal = 0; c.Name != r.Metric {
			w.goal, w.names = len(w.names), append(w.names, c.Name)
		}
	}
	if r.EarlyStop != "" && r.Metric != "" {
		rule, err := sweep.ParseStopRule(r.EarlyStop)
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

// begin starts to follow a trial whose app keeps its data in folder. A trial that was lost begins
// again with the folder of another app.
func (w *watcher) begin(number int, folder string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trials[number] = newWatched(metrics.Follow(folder, w.names...), w.started)
	w.awake()
}

// end reads what is left of a trial whose app has ended. It returns the best value of the sweep's
// metric, nil if it has reported none that is finite, and a verdict on the whole sweep that follows
// from what was left, nil if none does.
func (w *watcher) end(number int) (*metricValue, *verdict) {
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

// start begins to judge. After a restart the controller first calls begin for all trials that have
// had an app, and end for those that have ended. What they have reported so far was judged before:
// only --stop-when applies to it, of trials that have not ended.
func (w *watcher) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = true
	w.awake()
}

// close ends the watcher.
func (w *watcher) close() {
	close(w.closing)
	<-w.closed
}

// awake makes run notice a change.
func (w *watcher) awake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run makes a pass now and then while trials run.
func (w *watcher) run() {
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
		var out chan<- verdict
		var first verdict
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
func (w *watcher) next() (isBusy bool, v *verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		v = &w.queue[0]
	}
	return w.started && len(w.trials) > 0, v
}

func (w *watcher) taken() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queue = w.queue[1:]
}

// pass reads what is new of all trials that run, then judges them if one has reported something: it
// is compared with all others. It holds the lock for one trial at a time.
func (w *watcher) pass() {
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
func (w *watcher) readTrial(number int) bool {
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

func (w *watcher) judgeTrial(number int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.trials[number]
	if t == nil || t.stopped {
		return
	}
	if reason := w.judge(number, t); reason != "" {
		w.queue = append(w.queue, verdict{Trial: number, Reason: reason})
	}
}

// judge returns why a trial should stop by the rule, "" if it should not.
func (w *watcher) judge(number int, t *watched) string {
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

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

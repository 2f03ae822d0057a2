package interp

import (
	"context"
	"fmt"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"torchx/runtime/procs"

	"go.starlark.net/starlark"
)

const (
	watchPeriod = 5 * time.Millisecond   // between two checks of the clock and the heap
	grace       = 200 * time.Millisecond // from Thread.Cancel to Config.Fatal
	checkEvery  = 16 << 20               // bytes of guarded growth between two checks of the heap
)

// A run is one evaluation: of a file and everything it loads, or of a call.
type run struct {
	interp  *Interp
	ctx     context.Context
	hooks   Hooks
	subject string // what is evaluated, for messages without a position
	thread  *starlark.Thread
	loading []*Source        // files being loaded, the innermost last
	stash   []starlark.Value // see pushGuard
	state   atomic.Int32     // running, ended or fatal
	done    chan struct{}
	limits
}

// limits is the resource use of a run.
type limits struct {
	clock   clock
	charged uint64                     // bytes of guarded growth since the last check of the heap
	sample  []metrics.Sample           // reused by each check
	limit   atomic.Pointer[LimitError] // the first exceeded limit
}

// starved is how many times its limit an evaluation may take on a busy or suspended machine, which
// does not let it use the processor.
const starved = 5

// clock measures an evaluation. Its limit is one of time, which people wait for, but it must not
// stop a short evaluation for the load of the machine.
type clock struct {
	limit time.Duration
	start time.Time
	cpu   time.Duration // of the process, at the start
}

func startClock(limit time.Duration) clock {
	return clock{limit: limit, start: time.Now(), cpu: procs.CPUTime()}
}

// expired reports whether the time is over: the limit has passed, for half of it the process used a
// processor, or the limit has passed several times.
func (c clock) expired() bool {
	passed := time.Since(c.start)
	return passed >= c.limit && procs.CPUTime()-c.cpu >= c.limit/2 || passed >= starved*c.limit
}

const (
	running int32 = iota
	ended
	fatal
)

const runKey = "torchx.run" // key of the run in its thread's locals

func runOf(t *starlark.Thread) *run {
	r, _ := t.Local(runKey).(*run)
	return r
}

// run evaluates body on a new thread under all limits. Its error is an *Error.
func (i *Interp) run(ctx context.Context, subject string, body func(*run) error) error {
	r := i.newRun(ctx, subject)
	if err := ctx.Err(); err != nil {
		return r.report(err)
	}
	go r.watch()
	stop := context.AfterFunc(ctx, func() { r.thread.Cancel("interrupted") })
	err := r.protect(body)
	stop()
	if err != nil {
		err = r.report(err) // under the same deadline as body
	}
	r.state.CompareAndSwap(running, ended)
	close(r.done)
	return err
}

func (i *Interp) newRun(ctx context.Context, subject string) *run {
	r := &run{
		interp: i, ctx: ctx, subject: subject, hooks: hooksOf(ctx),
		done: make(chan struct{}), limits: limits{clock: startClock(i.cfg.Timeout), sample: heapSample()},
	}
	r.thread = &starlark.Thread{Name: subject, Load: r.loadStatement, Print: r.print}
	r.thread.SetLocal(runKey, r)
	r.thread.SetMaxExecutionSteps(i.cfg.MaxSteps)
	r.thread.OnMaxSteps = func(*starlark.Thread) {
		r.exceed(stopped("steps", fmt.Sprintf("took more than %d steps", i.cfg.MaxSteps), endlessLoop))
	}
	return r
}

// protect converts a panic of the engine or of a built-in function to an error.
func (r *run) protect(body func(*run) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal error while evaluating %s: %v", r.subject, p)
		}
	}()
	return body(r)
}

// exceed stops the run because of limit; only the first limit is kept.
func (r *run) exceed(limit *LimitError) {
	r.limit.CompareAndSwap(nil, limit)
	r.thread.Cancel(limit.Limit)
}

// watch checks the clock and the heap until the run ends or exceeds a limit.
func (r *run) watch() {
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	sample := heapSample()
	for {
		select {
		case <-r.done:
			return
		case <-tick.C:
		}
		var limit *LimitError
		switch {
		case r.clock.expired():
			limit = stopped("time", fmt.Sprintf("took longer than %s", r.interp.cfg.Timeout), endlessLoop)
		case heapBytes(sample) > r.interp.cfg.MaxHeap:
			limit = r.tooMuchMemory()
		default:
			continue
		}
		r.exceed(limit)
		r.lastResort(tick.C, sample)
		return
	}
}

// lastResort exits the process if the engine ignores a cancel, inside one endless step.
func (r *run) lastResort(tick <-chan time.Time, sample []metrics.Sample) {
	end := r.fatal()
	if end == nil {
		return
	}
	hard := r.interp.cfg.MaxHeap + r.interp.cfg.MaxHeap/2
	for start := time.Now(); time.Since(start) < grace && heapBytes(sample) < hard; {
		select {
		case <-r.done:
			return
		case <-tick:
		}
	}
	if !r.state.CompareAndSwap(running, fatal) {
		return
	}
	limit := *r.limit.Load()
	limit.At = stuckAt(r)
	end(&limit)
}

// charge records n bytes allocated by one step.
func (r *run) charge(n uint64) error {
	r.charged += n
	if r.charged < checkEvery {
		return nil
	}
	r.charged = 0
	if heapBytes(r.sample)+n > r.interp.cfg.MaxHeap {
		return r.tooMuchMemory()
	}
	return nil
}

func heapSample() []metrics.Sample {
	return []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
}

// heapBytes returns the size of all heap objects of the process, including garbage that is not
// swept yet.
func heapBytes(sample []metrics.Sample) uint64 {
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Hooks override functions of Config for the evaluations of a context; nil functions change
// nothing.
type Hooks struct {
	Print func(msg string)
	Fatal func(err error)
}

type hooksKey struct{}

// WithHooks returns a context with h for LoadFile, LoadBuiltin or Call.
func WithHooks(ctx context.Context, h Hooks) context.Context {
	return context.WithValue(ctx, hooksKey{}, h)
}

func hooksOf(ctx context.Context) Hooks {
	h, _ := ctx.Value(hooksKey{}).(Hooks)
	return h
}

func (r *run) print(_ *starlark.Thread, msg string) {
	switch {
	case r.hooks.Print != nil:
		r.hooks.Print(msg)
	case r.interp.cfg.Print != nil:
		r.interp.cfg.Print(msg)
	}
}

// fatal returns the function that exits the process, or nil.
func (r *run) fatal() func(error) {
	if r.hooks.Fatal != nil {
		return r.hooks.Fatal
	}
	return r.interp.cfg.Fatal
}

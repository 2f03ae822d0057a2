package startest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"time"

	"go.starlark.net/starlark"

	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
	"torchx/starlark/starfiles"
)

// Runner runs tests in this process, once.
type Runner struct {
	host      Host
	options   Options
	selection selection
	// report receives messages, one at a time.
	report func(Message)
	// stuck exits the process; if it is nil, an endless step continues.
	stuck func()

	interps  []*interp.Interp
	goldens  sync.Map // written: path → content
	patterns sync.Map // text → *regexp.Regexp

	reporting sync.Mutex
	queue
}

// queue is the work of a Runner. mu guards it.
type queue struct {
	mu         sync.Mutex
	wake       *sync.Cond // signaled when a field below changes
	tasks      []Task     // not loaded yet
	ready      []unit     // tests to run
	retryTests []unit     // tests to run again, alone
	retryFiles []Task     // files to load again, alone
	loading    int        // number of files being loaded
	stopped    bool       // no new tests start
	serial     bool       // one test runs at a time
}

// A unit is one test of a loaded file.
type unit struct {
	file *file
	name string
	fn   starlark.Callable
}

// file is a loaded test file.
type file struct {
	runner *Runner
	interp *interp.Interp
	name   string // as given in the task
	path   string // absolute
	began  time.Time

	mu        sync.Mutex
	remaining int // tests without a result
	result    FileResult
}

// NewRunner returns a Runner, or an error about a pattern in the options.
func NewRunner(h Host, o Options, report func(Message)) (*Runner, error) {
	c, err := newSelection(o)
	if err != nil {
		return nil, err
	}
	r := &Runner{host: h, options: o, selection: c, report: report}
	r.wake = sync.NewCond(&r.mu)
	return r, nil
}

// Run runs the tests of files in parallel and reports results as they arrive. Failures are results,
// not errors. When ctx ends, running tests fail.
func (r *Runner) Run(ctx context.Context, tasks []Task) {
	r.tasks = tasks
	n := r.options.Parallel
	if n <= 0 {
		n = runtime.GOMAXPROCS(0)
	}
	if r.options.Careful {
		n, r.serial = 1, true
	}
	for range n {
		r.interps = append(r.interps, r.newInterp())
	}
	var group sync.WaitGroup
	for _, i := range r.interps {
		group.Go(func() { r.work(ctx, i) })
	}
	group.Wait()
	r.retryAlone(ctx)
	if r.options.Cover {
		r.send(Message{Coverage: r.coverage()})
	}
}

// coverSteps is the maximum number of extra steps for a counted statement.
const coverSteps = 6

func (r *Runner) newInterp() *interp.Interp {
	var i *interp.Interp
	c := interp.Config{
		Dir: r.host.Dir, Builtins: r.host.Builtins, Library: r.host.Library, Timeout: r.options.Timeout, MaxHeap: r.options.MaxHeap,
		Predeclared: specmodule.Predeclared(specmodule.Options{
			Image: r.host.Image, Version: r.host.Version, Resources: r.host.Resources,
			Call: func(fn starlark.Callable, args starlark.Tuple) (starlark.Value, error) {
				return i.Call(context.Background(), fn, args, nil)
			},
		}),
	}
	if r.options.Cover {
		c.Cover = func(path string) bool { return !starfiles.IsTest(path) }
		c.MaxSteps = coverSteps * interp.DefaultMaxSteps
	}
	i = interp.New(c)
	return i
}

// work runs tests while there are any, else loads files.
func (r *Runner) work(ctx context.Context, i *interp.Interp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		switch {
		case len(r.ready) > 0:
			u := r.ready[0]
			r.ready = r.ready[1:]
			stopped := r.stopped || ctx.Err() != nil
			r.mu.Unlock()
			if stopped {
				u.file.finish(r, nil)
			} else {
				r.runUnit(ctx, u)
			}
			r.mu.Lock()
		case len(r.tasks) > 0:
			t := r.tasks[0]
			r.tasks = r.tasks[1:]
			r.loading++
			stopped := r.stopped || ctx.Err() != nil
			r.mu.Unlock()
			var units []unit
			if !stopped {
				units = r.load(ctx, i, t)
			}
			r.mu.Lock()
			r.loading--
			r.ready = append(r.ready, units...)
			r.wake.Broadcast()
		case r.loading == 0:
			return
		default:
			r.wake.Wait()
		}
	}
}

func (r *Runner) send(m Message) {
	r.reporting.Lock()
	defer r.reporting.Unlock()
	r.report(m)
}

// load evaluates a test file and returns its selected tests.
func (r *Runner) load(ctx context.Context, i *interp.Interp, t Task) []unit {
	f := &file{runner: r, interp: i, name: t.File, path: t.File, began: time.Now(), result: FileResult{Status: Pass}}
	if !filepath.IsAbs(f.path) {
		f.path = filepath.Join(r.host.Dir, f.path)
	}
	if r.options.Careful {
		r.send(Message{File: f.name, Started: loadingName})
	}
	ctx = interp.WithHooks(ctx, interp.Hooks{Print: func(string) {}, Fatal: r.fatal(unit{file: f})})
	r.freeGarbage()
	m, err := i.LoadFile(ctx, f.path)
	if r.mayBlameOthers(ctx, hitSharedLimit(err)) {
		r.mu.Lock()
		r.retryFiles = append(r.retryFiles, t)
		r.mu.Unlock()
		return nil
	}
	if err != nil {
		f.broken(err)
		return nil
	}
	units := r.tests(f, m, t.Done)
	f.remaining, f.result.Tests = len(units), len(units)
	if len(units) == 0 {
		f.done()
	}
	return units
}

// loadingName is reported as the test while a file is loaded.
const loadingName = "(load)"

// broken reports a file that cannot be loaded.
func (f *file) broken(err error) {
	f.result.Status, f.result.Problem = Fail, err.Error()
	if e, ok := errors.AsType[*interp.Error](err); ok {
		f.result.Detail = strings.TrimRight(e.Detail(), "\n")
	}
	f.done()
}

func (f *file) done() {
	f.result.Seconds = time.Since(f.began).Seconds()
	f.runner.send(Message{File: f.name, Done: &f.result})
}

// tests lists the selected test functions of a module in order.
func (r *Runner) tests(f *file, m *interp.Module, done []string) []unit {
	var units []unit
	for name, v := range m.Globals {
		fn, ok := v.(starlark.Callable)
		if ok && strings.HasPrefix(name, "test_") && r.selection.selects(name) &&
			!slices.Contains(done, name) {
			units = append(units, unit{f, name, fn})
		}
	}
	slices.SortFunc(units, func(a, b unit) int {
		return cmp.Or(cmp.Compare(a.line(), b.line()), strings.Compare(a.name, b.name))
	})
	return units
}

// line returns the line of the function; 0 if it is not a Starlark function.
func (u unit) line() int {
	if fn, ok := u.fn.(*starlark.Function); ok {
		return int(fn.Position().Line)
	}
	return 0
}

// runUnit runs a test and reports it, or schedules a retry if another test may have caused its
// failure.
func (r *Runner) runUnit(ctx context.Context, u unit) {
	if r.options.Careful {
		r.send(Message{File: u.file.name, Started: u.name})
	}
	r.freeGarbage()
	result := r.call(ctx, u)
	if r.mayBlameOthers(ctx, result.hitSharedLimit) {
		r.mu.Lock()
		r.retryTests = append(r.retryTests, u)
		r.mu.Unlock()
		return
	}
	r.finish(u, result)
}

func (r *Runner) finish(u unit, result Result) {
	if result.Status == Fail && r.options.FailFast {
		r.mu.Lock()
		r.stopped = true
		r.mu.Unlock()
	}
	u.file.finish(r, &result)
}

// finish records the result of a test, nil if it did not run.
func (f *file) finish(r *Runner, result *Result) {
	if result != nil {
		r.send(Message{File: f.name, Test: result})
	}
	f.mu.Lock()
	if result == nil {
		f.result.Tests--
	} else if result.Status == Fail {
		f.result.Status = Fail
	}
	f.remaining--
	last := f.remaining == 0
	f.mu.Unlock()
	if last {
		f.done()
	}
}

// retryAlone repeats tests and files that exceeded a limit of the whole process, one at a time.
func (r *Runner) retryAlone(ctx context.Context) {
	r.serial = true
	for _, u := range r.retryTests {
		r.runUnit(ctx, u)
	}
	for _, t := range r.retryFiles {
		i := r.newInterp() // the old one caches files that could not be loaded
		r.interps = append(r.interps, i)
		r.tasks = []Task{t}
		r.work(ctx, i)
	}
}

// hitSharedLimit reports whether a limit of the whole process was exceeded.
func hitSharedLimit(err error) bool {
	var limit *interp.LimitError
	return errors.As(err, &limit) && slices.Contains([]string{"memory", "time"}, limit.Limit)
}

// mayBlameOthers reports whether another test may have exceeded the limit.
func (r *Runner) mayBlameOthers(ctx context.Context, hitSharedLimit bool) bool {
	return hitSharedLimit && ctx.Err() == nil && !r.serial
}

// freeGarbage frees the garbage of earlier tests before a test that runs alone. That takes longer
// than most tests, so it is done only if there is much garbage.
func (r *Runner) freeGarbage() {
	if !r.serial {
		return
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Uint64() > cmp.Or(r.options.MaxHeap, interp.DefaultMaxHeap)/8 {
		debug.FreeOSMemory()
	}
}

// call runs a test on a separate thread.
func (r *Runner) call(ctx context.Context, u unit) Result {
	e := &execution{runner: r, file: u.file, env: map[string]string{}}
	x := e.newTest(u.name)
	x.result.Line = u.line()
	e.inner = x
	if problem := u.problem(); problem != "" {
		x.result.Status = Fail
		x.output(problem)
		return x.result
	}
	ctx = interp.WithHooks(ctx, interp.Hooks{
		Print: func(msg string) { e.inner.output(msg) },
		Fatal: r.fatal(u),
	})
	_, err := u.file.interp.Call(ctx, x.entry(u.fn), nil, nil)
	x.end(err)
	x.result.Seconds = time.Since(x.began).Seconds()
	return x.result
}

// problem reports why a function cannot be a test.
func (u unit) problem() string {
	fn, ok := u.fn.(*starlark.Function)
	if !ok || fn.NumParams() == 1 && !fn.HasVarargs() && !fn.HasKwargs() {
		return ""
	}
	return fmt.Sprintf("%s:%d: a test must take one argument: def %s(t)", fn.Position().Filename(),
		fn.Position().Line, u.name)
}

// entry returns a function that calls fn(t) on a thread whose torchx.getenv finds the test's
// variables.
func (x *test) entry(fn starlark.Callable) starlark.Callable {
	return starlark.NewBuiltin(fn.Name(), func(t *starlark.Thread, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
		specmodule.SetGetenv(t, func(name string) (string, bool) {
			v, ok := x.exec.env[name]
			return v, ok
		})
		return starlark.Call(t, fn, starlark.Tuple{x}, nil)
	})
}

// fatal returns a function that reports a test that cannot be stopped (or the loading of its file)
// and exits the process; nil if the process must not exit.
func (r *Runner) fatal(u unit) func(error) {
	if r.stuck == nil {
		return nil
	}
	began := time.Now()
	return func(err error) {
		seconds := time.Since(began).Seconds()
		m := Message{File: u.file.name, Stuck: true, Coverage: r.coverage()}
		var limit *interp.LimitError
		switch {
		case errors.As(err, &limit) && limit.Limit == "memory" && !r.options.Careful:
			// Another test may hold the memory: careful workers will find out.
		case u.fn != nil:
			m.Test = &Result{Name: u.name, Status: Fail, Line: u.line(), Output: []string{err.Error()}, Seconds: seconds}
		default:
			m.Done = &FileResult{Status: Fail, Problem: err.Error(), Seconds: seconds}
		}
		r.send(m)
		r.stuck()
	}
}

func (r *Runner) coverage() []interp.FileCoverage {
	if !r.options.Cover {
		return nil
	}
	var all [][]interp.FileCoverage
	for _, i := range r.interps {
		all = append(all, i.Coverage())
	}
	return MergeCoverage(all...)
}

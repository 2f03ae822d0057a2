// Package collect moves the metrics of an app from their sources to its store: lines of JSON
// that replicas append to a file, patterns over their logs, and TensorBoard files in the folder of
// outputs.
//
// It reads files behind their writers, and records with the points how far it has read. So it
// delays nothing, and after a kill the next collector continues at the same byte.
package collect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"torchx/runtime/filelock"
	"torchx/runtime/metrics"
	"torchx/runtime/pattern"
	"torchx/runtime/spec"
)

const (
	passEvery   = time.Second
	recordEvery = 10 * time.Second // between updates of the history
	flushBytes  = 4 << 20          // of a source, after which its points are stored
	awaitEvery  = 20 * time.Millisecond
)

// Attempt is a started attempt of a replica.
type Attempt struct {
	spec.Replica
	Number int
	Start  time.Time
}

// Config describes an app.
type Config struct {
	Dir      string // the app's folder
	App      *spec.App
	Attempts func() ([]Attempt, error) // that have started, in the order of their starts
	// LogDir returns the folder of an attempt: that of its log and of spec.MetricsFile.
	LogDir func(r spec.Replica, attempt int) string
	Output string // folder of the app's outputs; "": none
	// LinesInLog means that lines of JSON are in the log instead of a file.
	LinesInLog bool
	Log        func(format string, args ...any) // receives problems; each of them once
	// Record updates the history, now and then and at the end; nil: nothing.
	Record func([]metrics.Summary)
}

// Collector collects the metrics of one app.
type Collector struct {
	Config
	patterns map[string]*pattern.Set // by role; only those with patterns
	store    *metrics.Store          // nil until there is something to store
	sources  map[string]source
	boards   boards

	recorded time.Time // when the history was updated
	changed  bool      // since then
	last     string    // the last problem

	stop chan struct{}
	done chan struct{}
}

// source is one file or log of an attempt.
type source interface {
	// read adds what is new. With final, no more will come.
	read(ctx context.Context, final bool) error
	isDone() bool
}

// New returns a collector. It reads nothing.
func New(c Config) (*Collector, error) {
	n := &Collector{
		Config: c, patterns: map[string]*pattern.Set{}, sources: map[string]source{},
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	for i := range c.App.Roles {
		role := &c.App.Roles[i]
		text, err := c.App.Metrics(role)
		if err != nil {
			return nil, err
		}
		if len(text) == 0 && !c.LinesInLog {
			continue
		}
		if n.patterns[role.Name], err = pattern.Parse(text); err != nil {
			return nil, err
		}
	}
	n.boards = boards{collector: n, files: map[string]*board{}}
	return n, nil
}

// Start collects in the background until Stop.
func (c *Collector) Start() {
	go func() {
		defer close(c.done)
		runtime.LockOSThread() // for lowPriority; the thread ends with this goroutine
		lowPriority()
		tick := time.NewTicker(passEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.note(c.pass(context.Background(), false))
			case <-c.stop:
				c.note(c.finish(context.Background()))
				return
			}
		}
	}()
}

// Stop makes the collector read what is left. The channel is closed when it has.
func (c *Collector) Stop() <-chan struct{} {
	close(c.stop)
	return c.done
}

// Complete reads what is left of the sources of an app that has ended, unless that was done. It
// waits for another process that does so, as long as ctx.
func (c *Collector) Complete(ctx context.Context) error {
	if done, err := metrics.Complete(c.Dir); done || err != nil {
		return err
	}
	for {
		err := c.finish(ctx)
		if !errors.Is(err, filelock.ErrHeld) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(awaitEvery):
		}
	}
}

// Once reads what is new in the sources of an app that has not ended, unless another process
// collects.
func (c *Collector) Once(ctx context.Context) error {
	err := c.pass(ctx, false)
	if errors.Is(err, filelock.ErrHeld) {
		return nil
	}
	return c.close(err)
}

// note passes a problem on, once.
func (c *Collector) note(err error) {
	if err == nil || err.Error() == c.last {
		return
	}
	c.last = err.Error()
	if c.Log != nil {
		c.Log("metrics: %v", err)
	}
}

// finish reads the sources to their end and closes the store.
func (c *Collector) finish(ctx context.Context) error {
	err := c.pass(ctx, true)
	if err == nil && c.store != nil && !c.store.Complete() {
		c.store.SetComplete(true)
		err = c.store.Flush(nil)
	}
	return c.close(err)
}

// close updates the history and closes the store, if it is open.
func (c *Collector) close(err error) error {
	if c.store == nil {
		return err
	}
	if c.Record != nil {
		c.Record(c.store.Summaries())
	}
	err = errors.Join(err, c.store.Close())
	c.store = nil
	return err
}

// pass reads what is new in all sources.
func (c *Collector) pass(ctx context.Context, final bool) error {
	attempts, err := c.Attempts()
	if err != nil {
		return err
	}
	last := map[spec.Replica]int{}
	for _, a := range attempts {
		last[a.Replica] = max(last[a.Replica], a.Number)
	}
	if c.store != nil {
		if err := c.store.Flush(nil); err != nil { // of the last pass, if the disk was full
			return err
		}
	}
	var errs []error
	for _, a := range attempts {
		ended := final || a.Number < last[a.Replica]
		for _, s := range c.sourcesOf(a) {
			if s.isDone() {
				continue
			}
			if err := s.read(ctx, ended); err != nil {
				errs = append(errs, fmt.Errorf("%s/%d: %w", a.Role, a.ID, err))
			}
		}
		if len(errs) > 0 && ctx.Err() != nil {
			break
		}
	}
	errs = append(errs, c.boards.read(attempts, final))
	if c.changed && c.Record != nil && time.Since(c.recorded) >= recordEvery {
		c.Record(c.store.Summaries())
		c.changed, c.recorded = false, time.Now()
	}
	return errors.Join(errs...)
}

// sourcesOf returns the sources of an attempt, opened on first use.
func (c *Collector) sourcesOf(a Attempt) []source {
	var all []source
	add := func(key string, open func() source) {
		if c.sources[key] == nil {
			c.sources[key] = open()
		}
		all = append(all, c.sources[key])
	}
	of := fmt.Sprintf("/%s/%d/%d", a.Role, a.ID, a.Number)
	dir := c.LogDir(a.Replica, a.Number)
	if !c.LinesInLog {
		add("file"+of, func() source {
			return &file{collector: c, key: "file" + of, attempt: a, path: filepath.Join(dir, spec.MetricsFile)}
		})
	}
	if p := c.patterns[a.Role]; p != nil {
		add("log"+of, func() source { return &replicaLog{collector: c, key: "log" + of, attempt: a, dir: dir, patterns: p} })
	}
	return all
}

// open returns the store, which it creates on first use. Errors: filelock.ErrHeld.
func (c *Collector) open() (*metrics.Store, error) {
	if c.store != nil {
		return c.store, nil
	}
	var err error
	c.store, err = metrics.Open(c.Dir)
	if err == nil && c.store.Complete() {
		c.store.SetComplete(false)
	}
	return c.store, err
}

// flush stores the points that were added, with the position of their source after them.
func (c *Collector) flush(key string, position []byte) error {
	c.changed = true
	return c.store.Flush(map[string][]byte{key: position})
}

// hasStore reports whether something was collected before.
func (c *Collector) hasStore() bool {
	if c.store != nil {
		return true
	}
	_, err := os.Lstat(filepath.Join(c.Dir, metrics.Folder))
	return !errors.Is(err, fs.ErrNotExist)
}

// attemptAt returns the last attempt of a replica that had started at a time.
func attemptAt(all []Attempt, r spec.Replica, at time.Time) int {
	number := 0
	for _, a := range all {
		if a.Replica == r && !a.Start.After(at) {
			number = max(number, a.Number)
		}
	}
	return number
}

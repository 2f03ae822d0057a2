package startest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"torchx/starlark/interp"
)

// Supervise runs a job in worker processes, which start creates and which call Work, and reports
// results: for each file its tests, then Done. A worker that exits early fails only the test that
// caused it. Supervise returns the coverage. Errors: workers that do not start, or exit before any
// test; the end of ctx.
func Supervise(
	ctx context.Context, job Job, start func(context.Context) *exec.Cmd, report func(Message),
) ([]interp.FileCoverage, error) {
	s := &supervisor{options: job.Options, report: report, files: map[string]*progress{}}
	for _, t := range job.Tasks {
		s.order = append(s.order, t.File)
		s.files[t.File] = &progress{result: FileResult{Status: Pass}}
	}
	for {
		job := Job{s.options, s.remaining()}
		if len(job.Tasks) == 0 || s.stopped {
			return s.coverage, nil
		}
		err := s.worker(ctx, start(ctx), job)
		if ctx.Err() != nil {
			return s.coverage, context.Cause(ctx)
		}
		if err == nil && !s.stuck && !s.stopped && len(s.remaining()) > 0 {
			err = errors.New("exited before its tests ended")
		}
		if err != nil {
			if err = s.blame(err); err != nil {
				return s.coverage, err
			}
		}
	}
}

// progress is the state of a file.
type progress struct {
	done    []string // tests with a result
	ended   bool
	result  FileResult
	started string // the running test of a careful worker
}

type supervisor struct {
	options  Options
	report   func(Message)
	order    []string
	files    map[string]*progress
	stopped  bool // a test failed, and FailFast is set
	stuck    bool // the worker reported that it is stuck
	running  string
	coverage []interp.FileCoverage
}

func (s *supervisor) remaining() []Task {
	var tasks []Task
	for _, name := range s.order {
		if f := s.files[name]; !f.ended {
			tasks = append(tasks, Task{name, f.done})
		}
	}
	return tasks
}

// maxStderr bounds the kept part of a worker's stderr, in bytes.
const maxStderr = 4096

// worker runs one worker until it exits. The error is about a premature exit.
func (s *supervisor) worker(ctx context.Context, cmd *exec.Cmd, job Job) error {
	s.stuck, s.running = false, ""
	input, err := json.Marshal(job)
	if err != nil {
		return err
	}
	stderr := &limitedBuffer{remaining: maxStderr}
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a test process: %w", err)
	}
	unread := s.read(out)
	if unread != nil {
		_, _ = io.Copy(io.Discard, out) // otherwise it could block on a full pipe
	}
	ended := cmp.Or(cmd.Wait(), unread)
	if s.stuck || ended == nil || ctx.Err() != nil {
		return nil //nolint:nilerr // a stuck worker exits on purpose, and the caller checks ctx
	}
	if line, _, _ := strings.Cut(stderr.String(), "\n"); line != "" {
		ended = fmt.Errorf("%w: %s", ended, line)
	}
	return ended
}

// limitedBuffer keeps only the beginning of its input.
type limitedBuffer struct {
	bytes.Buffer
	remaining int
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	n := min(len(p), l.remaining)
	l.remaining -= n
	l.Buffer.Write(p[:n])
	return len(p), nil
}

// read reads the messages of a worker. The last line of a killed worker may be incomplete.
func (s *supervisor) read(out io.Reader) error {
	messages := json.NewDecoder(out)
	for {
		var m Message
		switch err := messages.Decode(&m); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return fmt.Errorf("invalid message from a test process: %w", err)
		}
		s.handle(m)
	}
}

func (s *supervisor) handle(m Message) {
	s.coverage = MergeCoverage(s.coverage, m.Coverage)
	f := s.files[m.File]
	if f == nil {
		return
	}
	if m.Started != "" {
		s.running, f.started = m.File, m.Started
	}
	if m.Test != nil {
		f.test(m.Test)
		s.report(Message{File: m.File, Test: m.Test})
	}
	if m.Done != nil {
		s.done(m.File, m.Done)
	}
	if m.Stuck {
		s.stuck = true
		if m.Test != nil {
			f.result.Seconds += m.Test.Seconds
		}
		if m.Test == nil && m.Done == nil {
			s.options.Careful = true
		}
	}
	if f.result.Status == Fail && s.options.FailFast {
		s.stopped = true
	}
}

func (f *progress) test(r *Result) {
	f.done = append(f.done, r.Name)
	f.started = ""
	if r.Status == Fail {
		f.result.Status = Fail
	}
}

// done ends a file, whose tests may have run in several workers.
func (s *supervisor) done(name string, d *FileResult) {
	f := s.files[name]
	f.ended, f.started = true, ""
	if f.result.Status == Fail {
		d.Status = Fail
	}
	f.result.Status = d.Status
	d.Seconds += f.result.Seconds
	d.Tests = len(f.done)
	s.report(Message{File: name, Done: d})
}

// blame finds the test that made a worker exit early. For that, tests must run one at a time.
func (s *supervisor) blame(ended error) error {
	if !s.options.Careful {
		s.options.Careful = true
		return nil
	}
	f := s.files[s.running]
	if f == nil || f.started == "" || f.ended {
		return fmt.Errorf("a test process failed: %w", ended)
	}
	text := fmt.Sprintf("%s: its test process failed: %v", s.running, ended)
	if f.started == loadingName {
		s.done(s.running, &FileResult{Status: Fail, Problem: text})
		return nil
	}
	s.handle(Message{File: s.running, Test: &Result{Name: f.started, Status: Fail, Output: []string{text}}})
	return nil
}

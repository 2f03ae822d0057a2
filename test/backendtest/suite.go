package backendtest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

const (
	defaultTimeout = time.Minute
	pollInterval   = 10 * time.Millisecond
	// long is the sleep of programs that a test ends.
	long = 10 * time.Minute
)

// suite is the state of one case.
type suite struct {
	*testing.T
	Harness
	ctx      context.Context
	mayBeCut bool // logs may end with a gap
}

func newSuite(t *testing.T, h Harness) *suite {
	t.Helper()
	if h.Timeout == 0 {
		h.Timeout = defaultTimeout
	}
	if h.Cwd == "" {
		h.Cwd = t.TempDir()
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.Timeout)
	t.Cleanup(cancel)
	return &suite{T: t, Harness: h, ctx: ctx}
}

// role returns a function that makes a role with these replicas of a program.
func (s *suite) role(name string, replicas int) func(entrypoint string, args []string) spec.Role {
	return func(entrypoint string, args []string) spec.Role {
		r := spec.NewRole(name, s.Image)
		r.Entrypoint, r.Args, r.NumReplicas = entrypoint, args, replicas
		return r
	}
}

// one returns a role "r" with one replica.
func (s *suite) one(entrypoint string, args []string) spec.Role {
	return s.role("r", 1)(entrypoint, args)
}

// input returns the input of a plan: an app with these roles and a new ID.
func (s *suite) input(roles ...spec.Role) backend.PlanInput {
	s.Helper()
	cfg, warnings, err := backend.Resolve(s.Backend.Options(),
		backend.DefaultsLayer(s.Cfg, "harness"))
	if err != nil || len(warnings) > 0 {
		s.Fatalf("options of the harness: %v %q", err, warnings)
	}
	app := &spec.App{Name: "conformance", Roles: roles, Metadata: map[string]any{}}
	return backend.PlanInput{ID: "conf-" + spec.RandomID(rand.Uint64()|1, 12), App: app, Cfg: cfg, Cwd: s.Cwd, DefaultImage: s.Image}
}

func (s *suite) plan(roles ...spec.Role) *backend.Plan {
	s.Helper()
	return s.planInput(s.input(roles...))
}

func (s *suite) planInput(in backend.PlanInput) *backend.Plan {
	s.Helper()
	p, err := s.Backend.Plan(s.ctx, in)
	if err != nil {
		s.Fatalf("plan: %v", err)
	}
	return p
}

// start submits an app, which ends with the case.
func (s *suite) start(roles ...spec.Role) string {
	s.Helper()
	p := s.plan(roles...)
	s.submit(p)
	return p.ID
}

func (s *suite) submit(p *backend.Plan) {
	s.Helper()
	s.endAfter(p.ID)
	if err := s.Backend.Submit(s.ctx, p); err != nil {
		s.Fatalf("submit %s: %v", p.ID, err)
	}
}

// endAfter ends the app at the end of the case.
func (s *suite) endAfter(id string) {
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), s.Timeout)
		defer cancel()
		b := s.Backend
		if err := b.Cancel(ctx, id, backend.CancelOptions{Force: true}); err != nil {
			s.Errorf("clean up %s: %v", id, err)
			return
		}
		if _, err := b.Wait(ctx, id); err != nil && !errors.Is(err, backend.ErrNotFound) {
			s.Errorf("clean up %s: %v", id, err)
		}
	})
}

// run submits an app and waits for its end.
func (s *suite) run(roles ...spec.Role) (string, *spec.Status) {
	s.Helper()
	id := s.start(roles...)
	return id, s.wait(id)
}

func (s *suite) wait(id string) *spec.Status {
	s.Helper()
	st, err := s.Backend.Wait(s.ctx, id)
	if err != nil {
		s.Fatalf("wait for %s: %v (status %+v)", id, err, st)
	}
	if !st.State.Terminal() {
		s.Fatalf("wait for %s returned with %v", id, st.State)
	}
	return st
}

// wantEnd waits for the end of an app and checks its state.
func (s *suite) wantEnd(id string, want spec.State) {
	s.Helper()
	if st := s.wait(id); st.State != want {
		s.Errorf("app %s: got %v (%s), want %v", id, st.State, st.Msg, want)
	}
}

func (s *suite) describe(id string) *spec.Status {
	s.Helper()
	st, err := s.Backend.Describe(s.ctx, id)
	if err != nil {
		s.Fatalf("describe %s: %v", id, err)
	}
	return st
}

func (s *suite) cancel(id string, o backend.CancelOptions) {
	s.Helper()
	if err := s.Backend.Cancel(s.ctx, id, o); err != nil {
		s.Fatalf("cancel %s: %v", id, err)
	}
}

// waitFor waits until ok returns true.
func (s *suite) waitFor(what string, ok func() bool) {
	s.Helper()
	for !ok() {
		select {
		case <-s.ctx.Done():
			s.Fatalf("timeout after %v: %s", s.Timeout, what)
		case <-time.After(pollInterval):
		}
	}
}

func (s *suite) waitRunning(id string) {
	s.Helper()
	s.waitFor(id+" is RUNNING", func() bool {
		st := s.describe(id)
		if st.State.Terminal() {
			s.Fatalf("%s ended as %v: %s", id, st.State, st.Msg)
		}
		return st.State == spec.Running
	})
}

// wantError checks that err wraps kind and is one line.
func (s *suite) wantError(what string, err, kind error) {
	s.Helper()
	if !errors.Is(err, kind) {
		s.Errorf("%s: got error %v, want %v", what, err, kind)
		return
	}
	if strings.Contains(err.Error(), "\n") {
		s.Errorf("%s: got error %q, want one line", what, err)
	}
}

// line is one line of a log.
type line struct {
	text    string // with its newline, if any
	stream  backend.Stream
	attempt int
	time    time.Time
}

// everything selects a whole log.
func everything() backend.LogOptions { return backend.LogOptions{Tail: -1} }

func (s *suite) open(id string, r spec.Replica, o backend.LogOptions) backend.LogReader {
	s.Helper()
	reader, err := s.Backend.Logs(s.ctx, id, r, o)
	if err != nil {
		s.Fatalf("logs of %s %s/%d: %v", id, r.Role, r.ID, err)
	}
	return reader
}

// read returns the selected lines of replica 0 of role "r".
func (s *suite) read(id string, o backend.LogOptions) []line {
	s.Helper()
	return s.readReplica(id, spec.Replica{Role: "r"}, o)
}

func (s *suite) readReplica(id string, r spec.Replica, o backend.LogOptions) []line {
	s.Helper()
	reader := s.open(id, r, o)
	defer s.close(reader)
	return s.readAll(reader)
}

// next returns the lines of the next block.
func (s *suite) next(reader backend.LogReader) ([]line, error) {
	b, err := reader.Next(s.ctx)
	if err != nil {
		return nil, err
	}
	if b.Notice != "" && s.mayBeCut {
		return nil, nil
	}
	if b.Notice != "" || b.Partial || len(b.Data) == 0 {
		s.Errorf("unexpected block %+v", b)
	}
	var lines []line
	for _, text := range strings.SplitAfter(string(b.Data), "\n") {
		if text != "" {
			lines = append(lines, line{text, b.Stream, b.Attempt, b.Time})
		}
	}
	return lines, nil
}

func (s *suite) close(c io.Closer) {
	s.Helper()
	if err := c.Close(); err != nil {
		s.Errorf("close: %v", err)
	}
}

// wantLog checks the whole log of replica 0 of role "r".
func (s *suite) wantLog(id, want string) {
	s.Helper()
	if got := texts(s.read(id, everything()), backend.Combined); got != want {
		s.Errorf("log of %s: got %q, want %q", id, got, want)
	}
}

// waitReady follows the log of replica 0 of role "r" until IgnoreTerm is ready.
func (s *suite) waitReady(id string) {
	s.Helper()
	o := everything()
	o.Follow = true
	reader := s.open(id, spec.Replica{Role: "r"}, o)
	defer s.close(reader)
	for {
		lines, err := s.next(reader)
		if err != nil {
			s.Fatalf("wait for %s to be ready: %v", id, err)
		}
		for _, l := range lines {
			if l.text == "ready\n" {
				return
			}
		}
	}
}

// texts joins the lines of one stream, or of all for Combined.
func texts(lines []line, stream backend.Stream) string {
	var b strings.Builder
	for _, l := range lines {
		if stream == backend.Combined || l.stream == stream {
			b.WriteString(l.text)
		}
	}
	return b.String()
}

// files lists everything below the backend's home, with sizes.
func (s *suite) files() map[string]int64 {
	s.Helper()
	found := map[string]int64{}
	if s.Home == "" {
		return found
	}
	err := filepath.WalkDir(s.Home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			found[path] = info.Size()
			return nil
		}
		found[path] = 0
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return found
}

func ptr[T any](v T) *T { return &v }

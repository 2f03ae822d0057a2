package podarchive

import (
	"context"

	"torchx/runtime/spec"
)

// Source is an app as its agent sees it. It implements archive.Source.
type Source struct {
	App *App
	Log func(format string, args ...any) // writes a line to the agent's log

	following   *LogCopier // nil before the first Copy
	stopMeasure context.CancelFunc
	ended       bool // as of the last Describe
	complete    bool
}

// Changed is the archive.Kind.Changed of pods: each snapshot has a status of its own. That of an
// app which the cluster no longer has says nothing.
func Changed(recorded, s *spec.Status) bool { return s != recorded && s.State != spec.Unknown }

// Describe implements archive.Source. Once Copy follows the app, it returns the newest status
// that the cluster has sent.
func (s *Source) Describe(ctx context.Context) (*spec.Status, error) {
	if _, err := s.App.read(ctx); err != nil {
		return nil, err
	}
	s.App.mu.Lock()
	defer s.App.mu.Unlock()
	s.ended = s.App.ended
	return s.App.snap.Status, nil
}

// Copy implements archive.Source: the first call begins to copy all logs in the background, until
// the app has ended or may no longer be watched.
func (s *Source) Copy(context.Context, bool) (complete bool, err error) {
	a := s.App
	a.mu.Lock()
	snap := a.snap
	a.mu.Unlock()
	if s.following == nil {
		s.Log("following %s", a.ID)
		s.following = a.Follow(snap.Status)
		var ctx context.Context
		ctx, s.stopMeasure = context.WithCancel(context.Background())
		go s.measure(ctx)
	}
	if !s.ended || !s.following.isDone() {
		return false, nil
	}
	if s.complete {
		return true, nil
	}
	for _, l := range s.following.logs {
		if err := l.failure(); err != nil {
			s.Log("log of %s/%d: %v", l.replica.Role, l.replica.ID, err)
		}
	}
	s.Log("ended: %v", snap.Status.State)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case snap.Hidden != nil:
		s.Log("no log is archived: %v", snap.Hidden)
	case a.failed != nil:
		return true, a.failed
	}
	s.complete = true
	return true, nil
}

// IsComplete reports whether Copy has copied all logs of an app that has ended.
func (s *Source) IsComplete() bool { return s.complete }

// Close ends the copies.
func (s *Source) Close() error {
	if s.following != nil {
		s.stopMeasure()
		s.following.close()
	}
	return nil
}

package kubernetes

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"torchx/backends/kubernetes/podarchive"
)

// stopping holds the logs that are followed since before their apps were stopped: pods are
// deleted as soon as they have ended, and the last lines with them.
type stopping struct {
	mu   sync.Mutex
	logs map[string]*podarchive.Following // by app ID
}

// take returns the logs of an app, which the caller ends; nil if there are none.
func (s *stopping) take(id string) *podarchive.Following {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.logs[id]
	delete(s.logs, id)
	return f
}

func (s *stopping) put(id string, f *podarchive.Following) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs == nil {
		s.logs = map[string]*podarchive.Following{}
	}
	s.logs[id] = f
}

// close ends all logs without waiting for further lines.
func (s *stopping) close() {
	s.mu.Lock()
	ids := slices.Collect(maps.Keys(s.logs))
	s.mu.Unlock()
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, id := range ids {
		if f := s.take(id); f != nil {
			_, _ = f.End(done)
		}
	}
}

// followToEnd begins to follow the logs of an app that is about to be stopped and returns when
// all running replicas are followed, or after podarchive.SaveTime. Wait, which the caller calls next, copies
// the remaining lines. An agent that follows the app is left to do so.
func (b *Backend) followToEnd(ctx context.Context, id string) {
	dir := b.FolderOf(id)
	if archives.IsFollowed(dir) {
		return
	}
	f, saved, err := b.archive(id, "").FollowNow(ctx)
	if errors.Is(err, errHidden) {
		return // the user knows
	}
	if err != nil {
		b.warn("the last lines of the logs may be lost: %v", err)
		return
	}
	switch {
	case len(saved.Missing) > 0:
		b.warnMissing(id, saved)
	case saved.Losing > 0:
		b.warn("lines that %d of %d replicas write while they stop are lost: following all logs needs %d open files (raise the limit with ulimit -n)", saved.Losing, f.Len(), podarchive.FilesFor(f.Len()))
	}
	b.stopping.put(id, f)
}

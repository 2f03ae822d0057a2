package kubernetes

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/podarchive"
)

// stopping holds the logs that are followed since before their apps were stopped: pods are
// deleted as soon as they have ended, and the last lines with them.
type stopping struct {
	mu   sync.Mutex
	logs map[string]stoppedLogs // by app ID
}

// stoppedLogs are the logs of one app. Its archive gets the snapshots of Wait.
type stoppedLogs struct {
	app       *podarchive.App
	following *podarchive.LogCopier
}

// take returns the logs of an app, which the caller ends; the zero value if there are none.
func (s *stopping) take(id string) stoppedLogs {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.logs[id]
	delete(s.logs, id)
	return f
}

func (s *stopping) put(id string, f stoppedLogs) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.logs == nil {
		s.logs = map[string]stoppedLogs{}
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
		if f := s.take(id).following; f != nil {
			_, _ = f.End(done)
		}
	}
}

// followToEnd begins to follow the logs of an app that is about to be stopped and returns when
// all running replicas are followed, or after podarchive.SaveTime. Wait, which the caller calls
// next, watches the app for the copies and ends them. An agent that follows the app is left to do
// so.
func (b *Backend) followToEnd(ctx context.Context, id string) {
	dir := b.FolderOf(id)
	if archives.HasAgent(dir) {
		return
	}
	app := b.pushedArchive(id)
	f, saved, err := app.FollowNow(ctx)
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
	b.stopping.put(id, stoppedLogs{app, f})
}

const (
	// overdueTime is how long a pod may take to end after its grace period. Then its node is taken
	// for lost: a node that answers kills the pod.
	overdueTime  = 10 * time.Second
	overdueEvery = time.Second
)

// overdue finds pods that should have ended. It may be used by several goroutines.
type overdue struct {
	mu  sync.Mutex
	due map[types.UID]duePod
}

// duePod is a pod that is ending.
type duePod struct {
	name string
	at   time.Time // when it is overdue, by this machine's clock
}

// note notes which pods are ending.
func (o *overdue) note(pods []corev1.Pod, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	due := map[types.UID]duePod{}
	for i := range pods {
		p := &pods[i]
		if p.DeletionTimestamp == nil {
			continue
		}
		one, known := o.due[p.UID]
		if !known {
			one = duePod{p.Name, now.Add(overdueTime)}
			if grace := p.DeletionGracePeriodSeconds; grace != nil {
				one.at = one.at.Add(time.Duration(*grace) * time.Second)
			}
		}
		due[p.UID] = one
	}
	o.due = due
}

// late returns the names of the overdue pods.
func (o *overdue) late(now time.Time) map[types.UID]string {
	o.mu.Lock()
	defer o.mu.Unlock()
	names := map[types.UID]string{}
	for uid, p := range o.due {
		if now.After(p.at) {
			names[uid] = p.name
		}
	}
	return names
}

// killOverdue deletes the overdue pods without waiting for their nodes, best effort.
func (t *target) killOverdue(ctx context.Context, o *overdue) {
	for uid, name := range o.late(time.Now()) {
		_ = t.Delete(ctx, kube.Pods, t.namespace, name, uid, new(int64(0))) // tried again
	}
}

// keepKilling calls killOverdue until stop is called.
func (t *target) keepKilling(ctx context.Context, o *overdue) (stop func()) {
	return repeat(ctx, overdueEvery, func(ctx context.Context) { t.killOverdue(ctx, o) })
}

package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"torchx/backends/archive"
	"torchx/backends/driver"
	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/podarchive"
	"torchx/runtime/backend"
	"torchx/runtime/consent"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// openLogs holds the archives in use.
type openLogs struct {
	mu    sync.Mutex
	apps  map[logKey]*podarchive.App
	files *logstore.Hub // notifies readers when files grow
}

// logKey identifies the archive of an app's stream, "" for both.
type logKey struct {
	id     string
	stream backend.Stream
}

// archive returns the archive of an app's stream, "" for both. All readers of its logs
// share one watch of the cluster.
func (b *Backend) archive(id string, s backend.Stream) *podarchive.App {
	l, key := &b.logs, logKey{id, s}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.apps[key] == nil {
		l.apps[key] = podarchive.New(podarchive.Config{
			Backend: manifest.Name, ID: id, Dir: podarchive.StreamDir(b.FolderOf(id), s), Stream: s, Hub: l.files,
			Cluster: &logCluster{backend: b, id: id, stream: s, isPatient: b.config.IsAgent}, Positions: b.config.Positions, Warn: b.config.Warn,
			SnapshotTime: b.snapshotTime,
		})
	}
	return l.apps[key]
}

// pushedArchive returns an archive of an app whose snapshots the caller passes to See.
func (b *Backend) pushedArchive(id string) *podarchive.App {
	return podarchive.New(podarchive.Config{
		Backend: manifest.Name, ID: id, Dir: b.FolderOf(id), Cluster: &logCluster{backend: b, id: id}, Pushed: true,
		Positions: b.config.Positions, Warn: b.config.Warn,
	})
}

// archives are those of apps with archive=true, or with actions for their end.
var archives = archive.Kind{
	Backend: manifest.Name, Folder: "archive", Manifest: "archive.json", Changed: podarchive.Changed,
	// Describe costs nothing: a watch keeps the status current.
	Pace: archive.Pace{First: time.Second, Last: time.Second, Away: time.Minute},
}

// Recover restarts the agents of archives that died.
func (b *Backend) Recover(context.Context) error {
	return archives.Recover(b.config.Home, b.config.Exe)
}

func runAgent(dir string, p driver.Program) int { return archives.Main(dir, p.OpenStore, openSource) }

// source is an app whose agent also collects its metrics.
type source struct {
	podarchive.Source
	backend       *Backend
	finishMetrics func()
}

func openSource(g *archive.Agent) (archive.Source, error) {
	b, err := New(Config{
		Home: g.Home, IsAgent: true, Warn: func(line string) { g.Log.Print(line) },
		Positions: func(ctx context.Context) podarchive.Positions {
			store, err := g.History.Store(ctx)
			if err != nil {
				g.Log.Print(err)
			}
			p, _ := store.(podarchive.Positions)
			return p
		},
		Settings: func(context.Context, string) (backend.Config, error) {
			return g.Info.Cfg, recheckConsent(g.Home, clusterRefOf(g.Info.Cfg), os.Environ())
		},
	})
	if err != nil {
		return nil, err
	}
	return &source{podarchive.Source{App: b.archive(g.Info.ID, ""), Log: g.Log.Printf}, b, startMetrics(g)}, nil
}

// Close implements io.Closer. The rest of the metrics of a complete archive is read first.
func (s *source) Close() error {
	err := s.Source.Close()
	if s.IsComplete() {
		s.finishMetrics()
	}
	return errors.Join(err, s.backend.Close())
}

// recheckConsent refuses a kubeconfig that the user no longer trusts.
func recheckConsent(home string, ref kube.ClusterRef, environ []string) error {
	for file := range ref.TrustedFiles(environ) {
		if err := consent.Of(home).Recheck(file); err != nil {
			return backend.Errorf(backend.ErrUnavailable, "kubeconfig %s %w", file, err)
		}
	}
	return nil
}

// waitArchiver archives an app's logs during Wait, using Wait's watch: clusters delete pods,
// and the user wants to read their logs later.
type waitArchiver struct {
	b           *Backend
	t           *target
	begun       bool // a snapshot has arrived
	stoppedLogs      // zero if an agent archives the logs
}

// update receives the next snapshot of the app.
func (w *waitArchiver) update(s *podarchive.Snapshot) {
	if w.app != nil {
		w.app.See(s)
	}
	if w.begun {
		return
	}
	w.begun = true
	dir := w.b.FolderOf(w.t.id)
	if w.following != nil || archives.HasAgent(dir) || w.b.canceledBy(w.t.id).Discard {
		return
	}
	w.app = w.b.pushedArchive(w.t.id)
	w.app.See(s)
	w.following = w.app.Follow(s.Status)
}

// end archives the remaining logs of an app that has ended, and warns about missing ones.
// err is the error of Wait, nil if the app has ended.
func (w *waitArchiver) end(ctx context.Context, err error) {
	if w.following == nil {
		return
	}
	bound := podarchive.SaveTime(w.following.Len())
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if err != nil {
		cancel()
	}
	missing, why := w.following.End(ctx)
	if err != nil || len(missing) == 0 {
		return
	}
	reason := "the cluster did not send all of them within " + bound.String()
	if why != nil {
		reason, _, _ = strings.Cut(why.Error(), "\n")
	}
	w.b.warn("logs of %s of %s are not all archived: %s", replicasText(missing),
		manifest.Handle(w.t.id), reason)
}

// saveLogs archives an app's logs before it is stopped, since they are deleted with its
// pods, and warns about lost lines. A failure does not prevent the stop.
func (b *Backend) saveLogs(ctx context.Context, id string) {
	s, err := b.archive(id, "").Save(ctx)
	switch {
	case errors.Is(err, errHidden): // the user knows
	case err != nil:
		b.warn("logs of %s are lost, they could not be archived before the app was stopped: %v",
			manifest.Handle(id), err)
	case len(s.Missing) > 0:
		b.warnMissing(id, s)
	case s.Losing > 0:
		b.warn("logs are archived up to now, lines written while replicas stop are lost (keep them with -cfg archive=true or `torchx log -t`)")
	}
}

// warnMissing warns about lines that could not be archived before an app is stopped.
func (b *Backend) warnMissing(id string, s podarchive.Saved) {
	b.warn("logs of %s of %s could not all be archived in time, the remaining lines are lost",
		replicasText(s.Missing), manifest.Handle(id))
}

// warnOnce warns unless it has given the same warning before.
func (b *Backend) warnOnce(line string) {
	b.mu.Lock()
	first := !b.told[line]
	b.told[line] = true
	b.mu.Unlock()
	if first {
		b.warn("%s", line)
	}
}

func (b *Backend) warn(format string, args ...any) {
	if b.config.Warn != nil {
		b.config.Warn(fmt.Sprintf(format, args...))
	}
}

// replicasText names the first few replicas.
func replicasText(all []spec.Replica) string {
	const most = 3
	slices.SortFunc(all, func(x, y spec.Replica) int { return cmp.Or(strings.Compare(x.Role, y.Role), x.ID-y.ID) })
	var names []string
	for _, r := range all[:min(most, len(all))] {
		names = append(names, fmt.Sprintf("%s/%d", r.Role, r.ID))
	}
	text := strings.Join(names, ", ")
	if more := len(all) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

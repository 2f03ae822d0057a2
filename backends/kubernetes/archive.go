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

	"torchx/backends/driver"
	"torchx/backends/kubernetes/archive"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/consent"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

// openLogs holds the archives in use.
type openLogs struct {
	mu    sync.Mutex
	apps  map[logKey]*archive.App
	files *logstore.Hub // nil until first used
}

// logKey identifies the archive of an app's stream, "" for both.
type logKey struct {
	id     string
	stream backend.Stream
}

// archive returns the archive of an app's stream, "" for both. All readers of its logs
// share one watch of the cluster.
func (b *Backend) archive(id string, s backend.Stream) *archive.App {
	hub, l, key := b.logs.hub(), &b.logs, logKey{id, s}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.apps[key] == nil {
		l.apps[key] = archive.New(archive.Config{
			Backend: manifest.Name, ID: id, Dir: archive.StreamDir(archive.Dir(b.config.Home, id), s), Stream: s, Hub: hub,
			Cluster: &logCluster{backend: b, id: id, stream: s}, Positions: b.config.Positions, Warn: b.config.Warn,
			SnapshotTime: b.snapshotTime,
		})
	}
	return l.apps[key]
}

// hub returns the hub that notifies readers when files grow.
func (l *openLogs) hub() *logstore.Hub {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files, l.apps = logstore.NewHub(), map[logKey]*archive.App{}
	}
	return l.files
}

func (l *openLogs) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		return nil
	}
	defer func() { l.files, l.apps = nil, nil }()
	return l.files.Close()
}

// Recover restarts the agents of archives that died.
func (b *Backend) Recover(context.Context) error {
	return archive.Followers.Recover(b.config.Home, b.config.Exe)
}

// beginArchive records, before the submission, that an app with archive=true, or with something
// to do at its end, needs an agent, so that a crash cannot leave the app without one. The returned functions start the
// agent, or remove the archive of an app whose submission failed.
func (b *Backend) beginArchive(p *backend.Plan) (start func() error, forget func() error, err error) {
	none := func() error { return nil }
	if on, _ := p.Cfg["archive"].(bool); !on && p.OnEnd == nil {
		return none, none, nil
	}
	dir := archive.Dir(b.config.Home, p.ID)
	if err := archive.Followers.Begin(dir, archive.Info{Followed: agent.NewFollowed(p), App: metricsOf(p.App)}); err != nil {
		return nil, nil, err
	}
	return func() error { return archive.Followers.Spawn(b.config.Exe, dir) }, func() error { return archive.Followers.Forget(dir) }, nil
}

func runAgent(dir string, p driver.Program) int {
	return archive.Followers.Main(dir, manifest.Name, p.OpenStore, follow)
}

// follow follows the app of an archive to its end.
func follow(f *agent.Following) error {
	info, err := archive.ReadInfo(f.Dir)
	if err != nil {
		return err
	}
	b, err := New(Config{
		Home: f.Home, Warn: func(line string) { f.Log.Print(line) },
		Positions: func(ctx context.Context) archive.Positions {
			store, err := f.History.Store(ctx)
			if err != nil {
				f.Log.Print(err)
			}
			p, _ := store.(archive.Positions)
			return p
		},
		Settings: func(context.Context, string) (backend.Config, error) {
			return info.Cfg, recheckConsent(f.Home, info.Cfg)
		},
	})
	if err != nil {
		return err
	}
	defer b.Close()
	g := &archive.Agent{App: b.archive(info.ID, ""), Status: f.Status, Ended: f.Ended, Log: f.Log.Printf}
	finishMetrics := startMetrics(f, info.App)
	err = g.Run(context.Background())
	if after, readErr := archive.ReadInfo(f.Dir); readErr == nil && after.Done {
		finishMetrics()
	}
	return err
}

// recheckConsent refuses a kubeconfig that the user no longer trusts.
func recheckConsent(home string, cfg backend.Config) error {
	for file := range clusterRefOf(cfg).TrustedFiles(os.Environ()) {
		if err := consent.Of(home).Recheck(file); err != nil {
			return backend.Errorf(backend.ErrUnavailable, "kubeconfig %s %w", file, err)
		}
	}
	return nil
}

// waitArchiver archives an app's logs during Wait, using Wait's watch: clusters delete pods,
// and the user wants to read their logs later.
type waitArchiver struct {
	b         *Backend
	t         *target
	replay    *archive.Replay    // nil before the first snapshot
	following *archive.Following // nil if an agent archives the logs
}

// update receives the next snapshot of the app.
func (w *waitArchiver) update(s *archive.Snapshot) {
	if w.replay != nil {
		w.replay.Put(s)
		return
	}
	w.replay = archive.NewReplay(&logCluster{backend: w.b, id: w.t.id}, s)
	if w.following != nil {
		return
	}
	dir := archive.Dir(w.b.config.Home, w.t.id)
	if archive.Followed(dir) || w.b.canceledBy(w.t.id).Discard {
		return
	}
	app := archive.New(archive.Config{
		Backend: manifest.Name, ID: w.t.id, Dir: dir, Cluster: w.replay, Positions: w.b.config.Positions, Warn: w.b.config.Warn,
	})
	w.following = app.Follow(s.Status)
}

// end archives the remaining logs of an app that has ended, and warns about missing ones.
// err is the error of Wait, nil if the app has ended.
func (w *waitArchiver) end(ctx context.Context, err error) {
	if w.following == nil {
		return
	}
	bound := archive.SaveTime(w.following.Len())
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
	w.b.warn("logs of %s of %s are not all archived: %s", replicasText(missing), manifest.Handle(w.t.id), reason)
}

// saveLogs archives an app's logs before it is stopped, since they are deleted with its
// pods, and warns about lost lines. A failure does not prevent the stop.
func (b *Backend) saveLogs(ctx context.Context, id string) {
	s, err := b.archive(id, "").Save(ctx)
	switch {
	case errors.Is(err, errHidden): // the user knows
	case err != nil:
		b.warn("logs of %s are lost, they could not be archived before the app was stopped: %v", manifest.Handle(id), err)
	case len(s.Missing) > 0:
		b.warnMissing(id, s)
	case s.Losing > 0:
		b.warn("logs are archived up to now, lines written while replicas stop are lost (keep them with -cfg archive=true or `torchx log -t`)")
	}
}

// warnMissing warns about lines that could not be archived before an app is stopped.
func (b *Backend) warnMissing(id string, s archive.Saved) {
	b.warn("logs of %s of %s could not all be archived in time, the remaining lines are lost", replicasText(s.Missing), manifest.Handle(id))
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

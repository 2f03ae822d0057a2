package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

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

// logKey is an app's stream, "" for both.
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
			Cluster: &logCluster{b, id, s}, Positions: b.config.Positions, Warn: b.config.Warn,
		})
	}
	return l.apps[key]
}

// hub returns the hub that tells readers when files grow.
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

// Sweep restarts the agents of archives that died.
func (b *Backend) Sweep(context.Context) error { return archive.Sweep(b.config.Home, b.config.Exe) }

// beginArchive records before the submission that an app with archive=true is to be
// followed, so that no crash leaves an app without an agent. The returned functions start
// the agent, or forget the archive of an app whose submission failed.
func (b *Backend) beginArchive(p *backend.Plan) (start func() error, forget func() error, err error) {
	none := func() error { return nil }
	if on, _ := p.Cfg["archive"].(bool); !on {
		return none, none, nil
	}
	dir := archive.Dir(b.config.Home, p.ID)
	if err := archive.Begin(dir, archive.Info{ID: p.ID, Cfg: p.Cfg}); err != nil {
		return nil, nil, err
	}
	return func() error { return archive.Spawn(b.config.Exe, dir) }, func() error { return archive.Forget(dir) }, nil
}

func runAgent(dir string, open agent.StoreOpener) int {
	return agent.Supervise(func(l *log.Logger) error { return follow(dir, open, l) })
}

// follow follows the app of an archive to its end.
func follow(dir string, open agent.StoreOpener, l *log.Logger) error {
	info, err := archive.ReadInfo(dir)
	if err != nil {
		return err
	}
	home := filepath.Dir(filepath.Dir(dir))
	history := agent.NewHistory(home, open)
	defer history.Close(l)
	b, err := New(Config{
		Home: home, Warn: func(line string) { l.Print(line) },
		Positions: func(ctx context.Context) archive.Positions {
			store, err := history.Store(ctx)
			if err != nil {
				l.Print(err)
			}
			p, _ := store.(archive.Positions)
			return p
		},
		Settings: func(context.Context, string) (backend.Config, error) { return info.Cfg, recheckConsent(home, info.Cfg) },
	})
	if err != nil {
		return err
	}
	defer b.Close()
	setStatus := func(ctx context.Context, s *spec.Status) error {
		store, err := history.Store(ctx)
		if err != nil {
			return err
		}
		return store.SetStatus(ctx, manifest.Name, info.ID, s)
	}
	g := &archive.Agent{App: b.archive(info.ID, ""), Status: setStatus, Log: l.Printf}
	return g.Run(context.Background())
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

// keeper archives an app's logs during Wait, with the watch of Wait: clusters delete pods,
// and the user wants to read their logs later.
type keeper struct {
	b      *Backend
	t      *target
	seen   *archive.Replay    // nil before the first snapshot
	follow *archive.Following // nil where an agent does it
}

// see receives a snapshot of the app.
func (k *keeper) see(s *archive.Snapshot) {
	if k.seen != nil {
		k.seen.Put(s)
		return
	}
	k.seen = archive.NewReplay(&logCluster{backend: k.b, id: k.t.id}, s)
	dir := archive.Dir(k.b.config.Home, k.t.id)
	if archive.Followed(dir) {
		return
	}
	app := archive.New(archive.Config{
		Backend: manifest.Name, ID: k.t.id, Dir: dir, Cluster: k.seen, Positions: k.b.config.Positions, Warn: k.b.config.Warn,
	})
	k.follow = app.Follow(s.Status)
}

// end archives the rest of an app that has ended, and warns about what is missing. err is
// the error of Wait, nil at the app's end.
func (k *keeper) end(ctx context.Context, err error) {
	if k.follow == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	if err != nil {
		cancel()
	}
	missing, why := k.follow.End(ctx)
	if err != nil || len(missing) == 0 {
		return
	}
	reason := "the cluster does not send all of it within " + saveTime.String()
	if why != nil {
		reason, _, _ = strings.Cut(why.Error(), "\n")
	}
	k.b.warn("logs of %s of %s are not all archived: %s", replicasText(missing), manifest.Handle(k.t.id), reason)
}

// saveTime bounds how long Cancel waits for logs.
const saveTime = 10 * time.Second

// saveLogs archives an app's logs before it is stopped, since they are deleted with its
// pods, and warns about what is lost. No failure prevents the stop.
func (b *Backend) saveLogs(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	s, err := b.archive(id, "").Save(ctx)
	switch {
	case err != nil:
		b.warn("logs of %s are lost, they could not be archived before it is stopped: %v", manifest.Handle(id), err)
	case len(s.Missing) > 0:
		b.warn("logs of %s of %s could not all be archived within %s, the rest is lost", replicasText(s.Missing), manifest.Handle(id), saveTime)
	case s.Losing:
		b.warn("logs so far are archived; what replicas write while they stop is lost (-cfg archive=true keeps it, and so does `torchx log -t`)")
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

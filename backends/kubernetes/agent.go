package kubernetes

import (
	"context"
	"log"
	"path/filepath"

	"torchx/backends/kubernetes/archive"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Sweep starts the agents of archives that died.
func (b *Backend) Sweep(context.Context) error { return archive.Sweep(b.config.Home, b.config.Exe) }

// beginArchive is for an app that is about to be submitted: with archive=true it is
// noted first, so that no crash leaves an app that nobody follows. The functions that
// it returns start the agent, or forget the archive of an app that did not come to be.
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
		Settings: func(context.Context, string) (backend.Config, error) { return info.Cfg, nil },
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

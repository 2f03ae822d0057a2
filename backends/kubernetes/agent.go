package kubernetes

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

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

// RunAgent follows the app of an archive to its end and returns the process's exit
// code. open opens the history of a home.
func RunAgent(dir string, open func(ctx context.Context, home string) (agent.Store, error)) int {
	// Taken and dropped: the terminal it was started from may go.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGPIPE)
	l := log.New(os.Stderr, "", log.LstdFlags|log.Lmicroseconds)
	if err := runAgent(dir, open, l); err != nil {
		l.Print(err)
		return 1
	}
	return 0
}

func runAgent(dir string, open func(ctx context.Context, home string) (agent.Store, error), l *log.Logger) error {
	info, err := archive.ReadInfo(dir)
	if err != nil {
		return err
	}
	home := filepath.Dir(filepath.Dir(dir))
	h := &agentHistory{home: home, id: info.ID, open: open, log: l}
	defer h.close()
	b, err := New(Config{
		Home: home, Positions: h.positions, Warn: func(line string) { l.Print(line) },
		Settings: func(context.Context, string) (backend.Config, error) { return info.Cfg, nil },
	})
	if err != nil {
		return err
	}
	defer b.Close()
	g := &archive.Agent{App: b.archive(info.ID, ""), Status: h.setStatus, Log: l.Printf}
	return g.Run(context.Background())
}

// agentHistory is the history as an agent writes it: opened when it is first needed.
type agentHistory struct {
	home, id string
	open     func(ctx context.Context, home string) (agent.Store, error)
	log      *log.Logger
	mu       sync.Mutex
	store    agent.Store
}

func (h *agentHistory) get(ctx context.Context) (agent.Store, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.store != nil {
		return h.store, nil
	}
	store, err := h.open(ctx, h.home)
	if err != nil {
		return nil, fmt.Errorf("open history: %w", err)
	}
	h.store = store
	return store, nil
}

func (h *agentHistory) setStatus(ctx context.Context, s *spec.Status) error {
	store, err := h.get(ctx)
	if err != nil {
		return err
	}
	return store.SetStatus(ctx, manifest.Name, h.id, s)
}

func (h *agentHistory) positions(ctx context.Context) archive.Positions {
	store, err := h.get(ctx)
	if err != nil {
		h.log.Print(err)
		return nil
	}
	p, _ := store.(archive.Positions)
	return p
}

func (h *agentHistory) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.store != nil {
		if err := h.store.Close(); err != nil {
			h.log.Print(err)
		}
	}
}

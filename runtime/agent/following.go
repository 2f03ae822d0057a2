package agent

import (
	"context"
	"log"
	"os"
	"path/filepath"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Following is the process of a follower: where it records what becomes of its app.
type Following struct {
	Home, Dir string // the home, and the folder of the follower
	Backend   string
	App       Followed
	Log       *log.Logger
	History   *History
}

// Main is the process of a follower: it calls follow, and then starts the actions for the end
// of the app. It returns the process's exit code.
func (f Followers) Main(dir, backend string, open StoreOpener, follow func(*Following) error) int {
	return Supervise(func(l *log.Logger) error {
		g := &Following{Home: filepath.Dir(filepath.Dir(dir)), Dir: dir, Backend: backend, Log: l}
		if err := f.Read(dir, &g.App); err != nil {
			return err
		}
		g.History = NewHistory(g.Home, open)
		defer g.History.Close(l)
		if err := follow(g); err != nil || g.App.OnEnd == nil {
			return err
		}
		exe, err := os.Executable()
		if err != nil {
			return err
		}
		return RunOnEnd(g.Home, exe)
	})
}

// Status records a status of the app.
func (g *Following) Status(ctx context.Context, s *spec.Status) error {
	store, err := g.History.Store(ctx)
	if err != nil {
		return err
	}
	return store.SetStatus(ctx, g.Backend, g.App.ID, s)
}

// Ended records the end of the app; on may be nil.
func (g *Following) Ended(on *backend.OnEnd, s *spec.Status) error {
	s.Handle = spec.Handle{Backend: g.Backend, Session: spec.Session, AppID: g.App.ID}.String()
	return NoteEnd(g.Home, g.Dir, on, s)
}

package slurm

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"torchx/backends/driver"
	"torchx/backends/slurm/archive"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Recover restarts the agents of archives that died.
func (b *Backend) Recover(context.Context) error {
	return archive.Followers.Recover(b.config.Home, b.config.Exe)
}

// beginArchive records, before the submission, that an app with archive=true, or with something to
// do at its end, needs an agent. The returned functions start the agent, or remove the archive of
// an app whose submission failed.
func (b *Backend) beginArchive(p *backend.Plan) (start, forget func() error, err error) {
	none := func() error { return nil }
	logs, _ := p.Cfg["archive"].(bool)
	if !logs && p.OnEnd == nil {
		return none, none, nil
	}
	dir := archive.Dir(b.config.Home, p.ID)
	i := archive.Info{Followed: agent.NewFollowed(p), Roles: archive.RolesOf(p.App), Logs: logs}
	if err := archive.Followers.Begin(dir, i); err != nil {
		return nil, nil, err
	}
	return func() error { return archive.Followers.Spawn(b.config.Exe, dir) }, func() error { return archive.Followers.Forget(dir) }, nil
}

func runAgent(dir string, p driver.Program) int {
	return archive.Followers.Main(dir, Name, p.OpenStore, follow)
}

// follow follows the app of an archive to its end.
func follow(f *agent.Following) error {
	info, err := archive.ReadInfo(f.Dir)
	if err != nil {
		return err
	}
	b, err := New(Config{
		Home: f.Home, Warn: func(line string) { f.Log.Print(line) },
		Settings: func(context.Context, string) (backend.Config, error) { return info.Cfg, nil },
	})
	if err != nil {
		return err
	}
	defer b.Close()
	g := &archive.Agent{
		Dir: f.Dir, Logs: info.Logs, Status: f.Status, Ended: f.Ended, Log: f.Log.Printf,
		Describe: func(ctx context.Context) (*spec.Status, error) { return b.Describe(ctx, info.ID) },
		Copier: func(ctx context.Context) (*archive.Copier, error) {
			t, err := b.find(ctx, info.ID)
			if err == nil && t.record == nil {
				err = fmt.Errorf("%s", t.hint())
			}
			if err != nil {
				return nil, err
			}
			return &archive.Copier{Dir: f.Dir, From: t.folder, App: t.record.App}, nil
		},
	}
	return g.Run(context.Background())
}

// isHere reports whether the folder of an app is in the home, so that no copy of its logs is needed.
func (b *Backend) isHere(t *target) bool {
	return strings.HasPrefix(string(t.folder), b.config.Home+string(filepath.Separator))
}

const (
	// lookEvery is how often a log that is being read is copied.
	lookEvery = 2 * time.Second
	// lookTime bounds how long Close waits for the last lines of the copy.
	lookTime = 5 * time.Second
)

// copied is the log of a replica that is copied into the home while it is read.
type copied struct {
	backend.LogReader
	finish chan struct{} // closed by Close
	stop   context.CancelFunc
	done   chan struct{}
	once   sync.Once
}

// copyWhileRead begins to copy the log of a replica, which l knows.
func (b *Backend) copyWhileRead(r backend.LogReader, l *liveLog) backend.LogReader {
	dir := archive.Dir(b.config.Home, l.target.id)
	if _, err := archive.ReadInfo(dir); err != nil {
		i := archive.Info{Followed: agent.Followed{ID: l.target.id, Cfg: l.target.record.Cfg}, Roles: archive.RolesOf(l.target.record.App)}
		if archive.Followers.Write(dir, i) != nil {
			return r // a full disk must not stop the reader
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &copied{LogReader: r, finish: make(chan struct{}), stop: stop, done: make(chan struct{})}
	copier := &archive.Copier{Dir: dir, From: l.target.folder, App: l.target.record.App, Only: &l.replica}
	go func() {
		defer close(c.done)
		for last := false; ; {
			_, ended, err := l.state()
			complete := false
			if err == nil {
				complete, err = copier.Pass(ctx, ended)
			}
			if last || complete || err != nil { // a later reader, or the agent, tries again
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-c.finish:
				last = true
			case <-time.After(lookEvery):
			}
		}
	}()
	return c
}

// Close implements io.Closer.
func (c *copied) Close() error {
	c.once.Do(func() {
		close(c.finish)
		select {
		case <-c.done:
		case <-time.After(lookTime):
		}
		c.stop()
		<-c.done
	})
	return c.LogReader.Close()
}

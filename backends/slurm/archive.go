package slurm

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"torchx/backends/archive"
	"torchx/backends/driver"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// archives are those of apps with archive=true or with actions for their end, and of apps whose
// logs were read. Each look at an app costs a call of Slurm's controller.
var archives = archive.Kind{
	Backend: Name, Folder: "slurm-archive", Manifest: "app.json",
	Pace:    archive.Pace{First: 2 * time.Second, Last: 15 * time.Second, Away: 15 * time.Second, Rest: 10 * time.Minute},
	Changed: func(recorded, s *spec.Status) bool { return s.State != recorded.State },
}

// Recover restarts the agents of archives that died.
func (b *Backend) Recover(context.Context) error {
	return archives.Recover(b.config.Home, b.config.Exe)
}

func runAgent(dir string, p driver.Program) int { return archives.Main(dir, p.OpenStore, openSource) }

// source is an app as its agent sees it.
type source struct {
	backend *Backend
	dir     string // the archive
	info    archive.Info
	copier  *copier // nil: not known yet
}

func openSource(g *archive.Agent) (archive.Source, error) {
	b, err := New(Config{
		Home: g.Home, Warn: func(line string) { g.Log.Print(line) },
		Settings: func(context.Context, string) (backend.Config, error) { return g.Info.Cfg, nil },
	})
	return &source{backend: b, dir: g.Dir, info: g.Info}, err
}

// Describe implements archive.Source.
func (s *source) Describe(ctx context.Context) (*spec.Status, error) {
	return s.backend.Describe(ctx, s.info.ID)
}

// Copy implements archive.Source.
func (s *source) Copy(ctx context.Context, ended bool) (complete bool, err error) {
	if !s.info.Logs {
		return ended, nil
	}
	if s.copier == nil {
		t, err := s.backend.find(ctx, s.info.ID)
		if err == nil && t.record == nil {
			err = errors.New(t.hint())
		}
		if err != nil {
			return false, err
		}
		s.copier = t.copierTo(s.dir)
	}
	return s.copier.pass(ctx, ended)
}

// Close implements io.Closer.
func (s *source) Close() error { return s.backend.Close() }

// copierTo returns what copies the logs of the app to an archive.
func (t *target) copierTo(dir string) *copier {
	return &copier{dir: dir, from: t.folder, app: t.record.App}
}

// isHere reports whether the folder of an app is in the home, so that no copy of its logs is
// needed.
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
	dir := archives.Dir(b.config.Home, l.target.id)
	if _, err := archives.Read(dir); err != nil {
		i := archive.Info{ID: l.target.id, Cfg: l.target.record.Cfg, Roles: archive.RolesOf(l.target.record.App)}
		if archives.Write(dir, i) != nil {
			return r // a full disk must not stop the reader
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &copied{LogReader: r, finish: make(chan struct{}), stop: stop, done: make(chan struct{})}
	copier := l.target.copierTo(dir)
	copier.only = &l.replica
	go func() {
		defer close(c.done)
		for last := false; ; {
			_, ended, err := l.state()
			complete := false
			if err == nil {
				complete, err = copier.pass(ctx, ended)
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

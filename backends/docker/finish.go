//go:build unix

package docker

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"torchx/backends/logcopy"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

const (
	// logTimeout is how long Finish waits for logs that make no progress.
	logTimeout = 30 * time.Second
	// sweepTimeout bounds the search for unrecorded containers.
	sweepTimeout = 10 * time.Second
	// maxOldContainers is how many containers of former attempts a replica keeps.
	maxOldContainers = 1
)

// Finish kills unrecorded containers of the app and completes the logs.
func (l *launcher) Finish(time.Duration, <-chan struct{}) {
	ctx, cancel := context.WithTimeout(l.ctx, sweepTimeout)
	l.killUnrecorded(ctx)
	cancel()
	done := make(chan struct{})
	go func() { l.logs.Wait(); close(done) }()
	l.awaitLogs(done)
	if l.startRefused.Load() { // a container could not start; all logs are copied
		ctx, cancel := context.WithTimeout(l.ctx, sweepTimeout)
		if err := removeContainers(ctx, l.engine.Client, l.app); err != nil {
			l.log.Print(err)
		}
		cancel()
	}
	l.cancel()
	<-done
	l.terminal.Close()
}

func (l *launcher) awaitLogs(done <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	last, since := l.logs.progress.Load(), time.Now()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if now := l.logs.progress.Load(); now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > logTimeout {
			l.log.Print("logs are incomplete: the engine does not answer")
			return
		}
	}
}

// killUnrecorded kills containers whose agent died before it could record them.
func (l *launcher) killUnrecorded(ctx context.Context) {
	all, err := containersOf(ctx, l.engine.Client, l.app)
	if err != nil {
		l.log.Print(err)
		return
	}
	_ = forEach(len(all), func(i int) error {
		if c := all[i]; c.State == container.StateRunning || c.State == container.StatePaused {
			if err := l.engine.send(ctx, c.ID, "SIGKILL"); err != nil {
				l.log.Printf("kill container %s: %v", c.ID, plain(err))
			}
		}
		return nil
	})
}

// completeLogs copies incomplete logs of attempts that ended before their agent died.
func (l *launcher) completeLogs() {
	var all []container.Summary
	err := l.engine.do(l.ctx, func() (err error) {
		all, err = containersOf(l.ctx, l.engine.Client, l.app)
		return err
	})
	if err != nil {
		l.log.Print(err)
		return
	}
	for _, c := range all {
		r, attempt, ok := attemptOf(c.Labels)
		if ok && c.State != container.StateCreated && l.byKey[r] != nil &&
			!l.hasCompleteLog(r, attempt) {
			l.startCopy(&run{replica: r, attempt: attempt, id: c.ID, startedAt: time.Unix(c.Created, 0), ended: make(chan struct{}), oom: make(chan struct{})})
		}
	}
}

// hasCompleteLog reports whether the bundle has the complete log of an attempt.
func (l *launcher) hasCompleteLog(r spec.Replica, attempt int) bool {
	return logcopy.IsComplete(l.layout.ReplicaDir(r, attempt))
}

// removeOldAttempt removes the container of an old attempt if its log is in the bundle.
// Otherwise it stays until the app is deleted.
func (l *launcher) removeOldAttempt(r spec.Replica, attempt int) {
	if !l.hasCompleteLog(r, attempt) {
		return
	}
	c, err := l.engine.ContainerInspect(l.ctx, attemptName(l.byKey[r].Name, attempt))
	if err == nil && !c.State.Running && c.Config.Labels[LabelAppID] == l.app {
		l.remove([]created{{id: c.ID, isNew: true}})
	}
}

const (
	// maxErrorFile is the maximum size of an error file, in bytes.
	maxErrorFile = 1 << 20
	// copyTimeout bounds the copy of an error file, because the result waits for it.
	copyTimeout = 10 * time.Second
	// errorFileName is the name of an error file in the folder of an attempt.
	errorFileName = "error.json"
)

// saveErrorFile copies the error file of an ended container into the folder of the
// attempt. It uses the API because the engine may be remote.
func (l *launcher) saveErrorFile(r *run, env []string) {
	path := environment(env, spec.ErrorFileVariable)
	if path == "" {
		return
	}
	ctx, cancel := context.WithTimeout(l.ctx, copyTimeout)
	defer cancel()
	archive, _, err := l.engine.CopyFromContainer(ctx, r.id, path)
	if errdefs.IsNotFound(err) {
		return
	}
	var data []byte
	if err == nil {
		data, err = firstFile(archive)
		archive.Close()
	}
	if err == nil && len(data) > 0 {
		dir := l.layout.ReplicaDir(r.replica, r.attempt)
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = safefile.WriteFile(filepath.Join(dir, errorFileName), data)
		}
	}
	if err != nil {
		l.log.Printf("copy error file of %s/%d: %v", r.replica.Role, r.replica.ID, plain(err))
	}
}

func firstFile(archive io.Reader) ([]byte, error) {
	t := tar.NewReader(archive)
	h, err := t.Next()
	if err != nil || h.Typeflag != tar.TypeReg {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(t, maxErrorFile))
}

// ErrorFile returns the saved error file of an attempt.
func (l *launcher) ErrorFile(r spec.Replica, attempt int) []byte {
	data, err := safefile.ReadFile(filepath.Join(l.layout.ReplicaDir(r, attempt), errorFileName), maxErrorFile)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			l.log.Printf("read error file of %s/%d: %v", r.Role, r.ID, err)
		}
		return nil
	}
	if !json.Valid(data) {
		data, _ = json.Marshal(string(data)) // a string cannot fail
	}
	return data
}

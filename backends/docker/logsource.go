//go:build unix

package docker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/go-units"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
)

// Gaps, which readers show where lines may be missing.
const (
	gapRestarted  = "gap: engine restarted"
	gapRemoved    = "gap: the container was removed"
	gapUnreadable = "gap: the engine's log cannot be read: " // and why
)

// pollInterval is how often a log is read if followers would miss lines.
const pollInterval = 300 * time.Millisecond

// copyLog copies the engine's log of a container into the bundle while the container
// runs. Errors are only logged: they must not end the app.
func (l *launcher) copyLog(r *run) {
	err := l.copyInto(r, l.layout.ReplicaDir(r.replica, r.attempt))
	if err != nil && l.ctx.Err() == nil {
		l.log.Printf("log of %s/%d: %v", r.replica.Role, r.replica.ID, err)
	}
}

func (l *launcher) copyInto(r *run, dir string) error {
	to, err := logcopy.OpenLog(dir)
	if err != nil {
		return err
	}
	to.StartedAt, to.Checkpoint = r.startedAt, l.checkpoints.Of(r.replica, r.attempt)
	if to.Tap = logstore.NewTap(r.onLine); r.onLine != nil && r.adopted {
		if err := tapCopied(l.ctx, dir, to.Tap); err != nil {
			l.log.Printf("scan the log of %s/%d: %v", r.replica.Role, r.replica.ID, err)
		}
	}
	var cursor logcopy.OffsetCursor
	if err := logcopy.ReadCursor(dir, &cursor); err != nil {
		l.log.Print(err) // everything is read again and known entries are skipped
	}
	at := logcopy.NewOffsetPosition(cursor)
	to.Save = func() error {
		if err := logcopy.WriteCursor(dir, at.Cursor); err != nil {
			l.log.Printf("write %s: %v", logcopy.CursorFile, err) // the next one replaces it
		}
		return nil
	}
	// A followed stream can miss the last entries (seen in 20.10), so its EOF is not
	// trusted: the log is read once more after the container ended.
	_, err = logcopy.Copy(l.ctx, &logSource{l: l, run: r}, to, at, logcopy.Mode{
		Follow: true, GapGone: gapRemoved, Timing: logcopy.Timing{Backoff: pollInterval, MaxBackoff: pollInterval, ResetAfter: time.Hour},
	})
	if l.ctx.Err() == nil {
		at.Cursor.Done = true
		err = errors.Join(err, to.Commit(true, true))
	}
	return errors.Join(err, to.Close())
}

// tapCopied feeds the log that a former agent copied to a tap.
func tapCopied(ctx context.Context, dir string, tap *logstore.Tap) error {
	r, err := logstore.Open(logstore.Source{
		Dir:   func(int) string { return dir },
		State: func() (int, bool, error) { return 1, true, nil },
	}, backend.LogOptions{Tail: -1})
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		stream := logstore.Stdout
		if b.Stream == backend.Stderr {
			stream = logstore.Stderr
		}
		tap.Feed(stream, b.Data)
	}
}

// logSource is the engine's log of one container.
type logSource struct {
	l              *launcher
	run            *run
	engineLost     bool // the engine disconnected while the container ran
	containerEnded bool // an inspection found the container ended
	rotation       rotation
}

// State implements logcopy.Source.
func (s *logSource) State() (logcopy.State, <-chan struct{}) {
	select {
	case <-s.run.ended:
		return logcopy.Ended, nil
	default:
	}
	if s.containerEnded {
		return logcopy.Ended, nil
	}
	return logcopy.Running, s.run.ended
}

// Open implements logcopy.Source.
func (s *logSource) Open(ctx context.Context, o logcopy.Options) (logcopy.Stream, error) {
	options := container.LogsOptions{ShowStdout: true, ShowStderr: true, Timestamps: true, Follow: o.Follow}
	if !o.Since.IsZero() {
		options.Since = o.Since.UTC().Format(time.RFC3339Nano)
	}
	if o.Tail > 0 {
		options.Tail = strconv.FormatInt(o.Tail, 10)
	}
	body, err := s.l.engine.ContainerLogs(ctx, s.run.id, options)
	if err != nil {
		return nil, s.checkEnd(ctx, err)
	}
	in := &followedLog{logStream: newLogStream(body, true), source: s, ctx: ctx, follow: o.Follow}
	if s.engineLost {
		s.engineLost, in.gap = false, gapRestarted
	}
	return in, nil
}

// checkEnd returns the error that the end of a stream means to logcopy. If the engine is
// lost, it waits until the engine answers: it ends streams when a container ends, but also
// when it shuts down.
func (s *logSource) checkEnd(ctx context.Context, end error) error {
	clean := errors.Is(end, io.EOF)
	switch {
	case errdefs.IsNotFound(end):
		return logcopy.ErrGone
	case !clean && !unreachable(end):
		return &logcopy.UnreadableError{Gap: gapUnreadable + plain(end).Error(), Err: end}
	}
	if state, _ := s.State(); clean && state == logcopy.Ended {
		return end
	}
	e := s.l.engine
	c, err := e.ContainerInspect(ctx, s.run.id)
	if unreachable(err) {
		s.engineLost = true
		c, err = e.inspect(ctx, s.run.id)
	}
	switch {
	case errdefs.IsNotFound(err):
		s.containerEnded = true
	case err != nil:
		return &logcopy.UnreadableError{Err: err}
	default:
		s.containerEnded = clean && !s.engineLost && !c.State.Running && !c.State.Paused
	}
	return end
}

// followedLog is one stream of a logSource.
type followedLog struct {
	*logStream
	source *logSource
	ctx    context.Context //nolint:containedctx // of the stream
	follow bool
	gap    string // returned first, if not empty
}

// Next implements logcopy.Stream.
func (f *followedLog) Next() (logcopy.Entry, error) {
	if f.gap != "" {
		e := logcopy.Entry{Gap: f.gap}
		f.gap = ""
		return e, nil
	}
	if f.follow && f.source.rotation.near {
		return logcopy.Entry{}, logcopy.ErrPoll
	}
	p, err := f.logStream.Next()
	if err != nil {
		return p, f.source.checkEnd(f.ctx, err)
	}
	f.source.l.logs.progress.Add(1)
	if f.follow {
		f.source.rotation.count(p.Data, f.source.logLimit)
	}
	return p, nil
}

const (
	// entryOverhead is the number of bytes that the json-file driver adds to a line.
	entryOverhead = len(`{"log":"","stream":"stdout","time":"2006-01-02T15:04:05.000000000Z"}`) + 1
	// minRotation is below any sensible size limit of a log.
	minRotation = 64 << 10
	// losslessAPI is the API version of Docker 23, the first whose followers miss no lines of a
	// rotated log.
	losslessAPI = "1.42"
	// localSize is the default file size of the driver "local".
	localSize = 20 << 20
)

// rotation predicts when the engine rotates the log. Old engines close the file while
// followers still read it, and send some lines twice. Reading without following is
// complete, as far as the engine keeps the log.
type rotation struct {
	near  bool  // the log must no longer be followed
	size  int64 // of the log, in bytes
	limit int64 // 0: not known yet; negative: rotation loses nothing
}

func (r *rotation) count(data []byte, limit func() int64) {
	if r.limit < 0 {
		return
	}
	r.size += int64(len(data)+entryOverhead) + int64(bytes.Count(data, []byte{'"'}))
	if r.limit == 0 && r.size > minRotation/2 {
		r.limit = limit()
	}
	r.near = r.limit > 0 && r.size >= r.limit/2 // half, because escapes make the file larger than counted
}

// logLimit returns the size at which the log rotates and may lose lines, negative if that
// never happens.
func (s *logSource) logLimit() int64 {
	e := s.l.engine
	c, err := e.ContainerInspect(s.l.ctx, s.run.id)
	if err != nil || !versions.LessThan(e.ClientVersion(), losslessAPI) {
		return -1
	}
	log := c.HostConfig.LogConfig
	size, err := units.FromHumanSize(log.Config["max-size"])
	switch {
	case err == nil && size > 0:
		return size
	case log.Type == "local":
		return localSize
	}
	return -1
}

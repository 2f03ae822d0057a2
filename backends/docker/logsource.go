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

// Gaps: what readers show where lines can be missing.
const (
	gapRestarted  = "gap: engine restarted"
	gapRemoved    = "gap: the container was removed"
	gapUnreadable = "gap: the engine's log cannot be read"
)

// pollPause is how often a log is read whose followers miss lines.
const pollPause = 300 * time.Millisecond

// copyLog copies the log that the engine keeps of a container into the bundle, while
// the container runs. Trouble must not end the app.
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
	to.StartedAt, to.Checkpoint = r.began, l.checkpoints.Of(r.replica, r.attempt)
	if to.Tap = logstore.NewTap(r.line); r.line != nil && r.adopted {
		if err := tapCopied(l.ctx, dir, to.Tap); err != nil {
			l.log.Printf("look through the log of %s/%d: %v", r.replica.Role, r.replica.ID, err)
		}
	}
	var cursor logcopy.OffsetCursor
	if err := logcopy.ReadCursor(dir, &cursor); err != nil {
		l.log.Print(err) // everything is read again, and what is there is passed over
	}
	at := logcopy.NewOffsetPosition(cursor)
	to.Save = func() error {
		if err := logcopy.WriteCursor(dir, at.Cursor); err != nil {
			l.log.Printf("write %s: %v", logcopy.CursorFile, err) // the next one is as good
		}
		return nil
	}
	// A stream that follows can miss what is written last (seen in 20.10), so its end
	// is not trusted: it is read once more when the container has ended.
	_, err = logcopy.Copy(l.ctx, &logSource{l: l, run: r}, to, at, logcopy.Mode{
		Follow: true, GapGone: gapRemoved, Timing: logcopy.Timing{Backoff: pollPause, MaxBackoff: pollPause, ResetAfter: time.Hour},
	})
	if l.ctx.Err() == nil {
		at.Cursor.Done = true
		err = errors.Join(err, to.Commit(true, true))
	}
	return errors.Join(err, to.Close())
}

// tapCopied hands what a former agent copied to a tap.
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
	l        *launcher
	run      *run
	away     bool // the engine went away while the container ran
	ended    bool // the container was seen to have ended
	rotation rotation
}

// State implements logcopy.Source.
func (s *logSource) State() (logcopy.State, <-chan struct{}) {
	select {
	case <-s.run.ended:
		return logcopy.Ended, nil
	default:
	}
	if s.ended {
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
		return nil, s.check(ctx, err)
	}
	in := &followedLog{logStream: newLogStream(body, true), source: s, ctx: ctx, follow: o.Follow}
	if s.away {
		s.away, in.gap = false, gapRestarted
	}
	return in, nil
}

// check says what the end of a stream means, and waits until the engine answers if it
// went away. An engine ends streams when a container ends, and when it goes down itself.
func (s *logSource) check(ctx context.Context, end error) error {
	clean := errors.Is(end, io.EOF)
	switch {
	case errdefs.IsNotFound(end):
		return logcopy.ErrGone
	case !clean && !unreachable(end):
		return &logcopy.UnreadableError{Gap: gapUnreadable, Err: end}
	}
	if state, _ := s.State(); clean && state == logcopy.Ended {
		return end
	}
	e := s.l.engine
	c, err := e.ContainerInspect(ctx, s.run.id)
	if unreachable(err) {
		s.away = true
		c, err = e.inspect(ctx, s.run.id)
	}
	switch {
	case errdefs.IsNotFound(err):
		s.ended = true
	case err != nil:
		return &logcopy.UnreadableError{Err: err}
	default:
		s.ended = clean && !s.away && !c.State.Running && !c.State.Paused
	}
	return end
}

// followedLog is one answer of the engine.
type followedLog struct {
	*logStream
	source *logSource
	ctx    context.Context //nolint:containedctx // of the answer
	follow bool
	gap    string // to be noted first
}

// Next implements logcopy.Stream.
func (f *followedLog) Next() (logcopy.Entry, error) {
	if f.gap != "" {
		p := logcopy.Entry{Gap: f.gap}
		f.gap = ""
		return p, nil
	}
	if f.follow && f.source.rotation.near {
		return logcopy.Entry{}, logcopy.ErrPoll
	}
	p, err := f.logStream.Next()
	if err != nil {
		return p, f.source.check(f.ctx, err)
	}
	f.source.l.logs.progress.Add(1)
	if f.follow {
		f.source.rotation.pass(p.Data, f.source.logLimit)
	}
	return p, nil
}

const (
	// entryFrame is what the engine's json-file driver writes around a line.
	entryFrame = len(`{"log":"","stream":"stdout","time":"2006-01-02T15:04:05.000000000Z"}`) + 1
	// smallLog is a size below which no sensible limit is.
	smallLog = 64 << 10
	// losslessAPI is that of Docker 23, whose followers miss nothing when a log rotates.
	losslessAPI = "1.42"
	// localSize is the default size of a file of the driver "local".
	localSize = 20 << 20
)

// rotation tells when the engine may soon begin a new log file. Old engines close the
// file under its followers, who may not have read it to its end, and some lines
// come twice; a log that is read without following is whole as far as it is kept.
type rotation struct {
	near  bool  // the log must not be followed any more
	size  int64 // of the log
	limit int64 // 0: not known yet, < 0: the log never rotates, or nothing is lost
}

func (r *rotation) pass(data []byte, limit func() int64) {
	if r.limit < 0 {
		return
	}
	r.size += int64(len(data)+entryFrame) + int64(bytes.Count(data, []byte{'"'}))
	if r.limit == 0 && r.size > smallLog/2 {
		r.limit = limit()
	}
	r.near = r.limit > 0 && r.size >= r.limit/2 // half of it: escapes make it larger than it seems
}

// logLimit returns the size at which the log rotates and may lose lines, < 0 if that
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

//go:build unix

package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"torchx/runtime/logstore"
)

// What readers show where lines can be missing.
const (
	gapRotated   = "gap: rotated"
	gapRestarted = "gap: engine restarted"
	gapRemoved   = "gap: the container was removed"
	gapUnread    = "gap: the engine's log cannot be read"
)

const (
	// chunkTime and chunkBytes bound what is archived with one write: entries in it
	// share their time, as far as selecting by time is concerned.
	chunkTime  = 5 * time.Millisecond
	chunkBytes = 256 << 10
	// pointBytes is how much of a log there is between two checkpoints of the history.
	pointBytes = 64 << 20
)

// archive copies the log that the engine keeps of one container into the bundle,
// while the container runs. A kill loses nothing and repeats nothing: what is in
// the archive says where to go on.
type archive struct {
	l      *launcher
	run    *run
	w      *logstore.Writer
	dir    string
	cursor cursor
	saved  time.Time // when the cursor was last written
	marks  marker

	chunk    []byte
	stream   logstore.Stream
	from, to time.Time // of the chunk's entries
	unmarked int       // bytes since the last checkpoint of the history
	point    func(logstore.Totals, time.Time)
	away     bool // the engine went away while the container ran
	tap      *logstore.Tap

	skip  [2]int64  // bytes of the streams that the engine sends again
	until time.Time // set instead when the engine does not have the cursor's entry any more
	first time.Time // of the whole log's first entry
	turns turns
	polls bool // the log is read again and again instead of followed
	short bool // only the end of the log is read
	whole bool // … which did not reach back to the cursor
}

// tailSlack is how many entries the engine may not have sent while it followed: the
// end is read without what is before, which engines look through line by line.
const tailSlack = 1000

// errShort says that the end that was read does not reach back to the cursor.
var errShort = errors.New("the end of the log is not enough")

// archive runs until the whole log is in the bundle. Trouble must not end the app.
func (l *launcher) archive(r *run) {
	a, err := l.openArchive(r)
	if err == nil {
		err = a.copy()
		err = errors.Join(err, a.close())
	}
	if err != nil && l.ctx.Err() == nil {
		l.log.Printf("log of %s/%d: %v", r.replica.Role, r.replica.ID, err)
	}
}

func (l *launcher) openArchive(r *run) (*archive, error) {
	dir := l.layout.ReplicaDir(r.replica, r.attempt)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create log folder: %w", err)
	}
	w, err := logstore.Reopen(dir)
	if errors.Is(err, fs.ErrNotExist) {
		w, err = logstore.Create(dir)
	}
	if err != nil {
		return nil, err
	}
	a := &archive{l: l, run: r, w: w, dir: dir, point: l.points.Of(r.replica, r.attempt), tap: logstore.NewTap(r.line)}
	if err := a.tapArchived(); err != nil {
		l.log.Printf("look through the log of %s/%d: %v", r.replica.Role, r.replica.ID, err)
	}
	if a.cursor, err = readCursor(dir); err != nil {
		l.log.Print(err) // everything is read again, and what is there is passed over
	}
	return a, nil
}

// copy reads the engine's log to its end, however often the engine goes away. What
// is written last can be missing from a stream that follows (seen in 20.10), so
// the end is read once more when the container has ended.
func (a *archive) copy() error {
	for ended := false; a.l.ctx.Err() == nil; {
		err := a.follow(!ended && !a.polls)
		if errors.Is(err, errShort) {
			a.whole = true
			continue
		}
		a.whole = false
		err = errors.Join(err, a.flush())
		if errors.Is(err, errTurns) {
			a.polls = true
			continue
		}
		switch {
		case errdefs.IsNotFound(err):
			return a.gap(gapRemoved)
		case err != nil && !unreachable(err) && a.l.ctx.Err() == nil:
			return errors.Join(err, a.gap(gapUnread))
		}
		over, err := a.over(err != nil)
		if over && ended || err != nil {
			return err
		}
		if ended = over; a.polls && !over {
			a.pause()
		}
	}
	return a.l.ctx.Err()
}

// over reports whether the container has ended, so that its log has, too, unless
// that was cut off.
func (a *archive) over(cut bool) (bool, error) {
	select {
	case <-a.run.ended:
		if !cut {
			return true, nil
		}
	default:
	}
	ctx := a.l.ctx
	c, err := a.l.engine.ContainerInspect(ctx, a.run.id)
	if unreachable(err) {
		a.away = true
		err = a.l.engine.do(ctx, func() (err error) {
			c, err = a.l.engine.ContainerInspect(ctx, a.run.id)
			return err
		})
	}
	if errdefs.IsNotFound(err) {
		return true, nil
	}
	return err == nil && !cut && !a.away && !c.State.Running && !c.State.Paused, err
}

// follow archives one stream of the log.
func (a *archive) follow(on bool) error {
	ctx, cancel := context.WithCancel(a.l.ctx)
	defer cancel()
	o := container.LogsOptions{ShowStdout: true, ShowStderr: true, Timestamps: true, Follow: on}
	if !a.cursor.Since.IsZero() {
		o.Since = a.cursor.Since.UTC().Format(time.RFC3339Nano)
	}
	if a.short = !on && !a.whole; a.short {
		o.Tail = strconv.Itoa(a.marks.since() + tailSlack)
	}
	stream, err := a.l.engine.ContainerLogs(ctx, a.run.id, o)
	if err != nil {
		return err
	}
	defer stream.Close()
	if a.away {
		a.away = false
		if err := a.gap(gapRestarted); err != nil {
			return err
		}
	}
	return a.take(newEntries(stream, true))
}

// take archives the entries that are not in the archive yet. The engine sends
// everything from the cursor on; what stands behind the cursor's offsets is that.
func (a *archive) take(in *entries) error {
	t := a.w.Totals()
	a.marks = marker{end: a.cursor.Offsets, ready: a.cursor.Since}
	a.skip = [2]int64{t.StdoutBytes - a.cursor.Offsets[0], t.StderrBytes - a.cursor.Offsets[1]}
	a.until = time.Time{}
	for first := true; ; first = false {
		e, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		a.l.progress.Add(1)
		known, err := a.known(e, first)
		if err == nil && !known {
			err = a.add(e)
		}
		if err == nil && in.rests() {
			err = a.flush()
		}
		if err != nil {
			return err
		}
	}
}

// known reports whether an entry is in the archive.
func (a *archive) known(e entry, first bool) (bool, error) {
	want := a.expected()
	missing := first && !want.IsZero() && !e.time.Equal(want)
	if a.short && first && (missing || want.IsZero()) {
		return false, errShort
	}
	if a.first.IsZero() && a.cursor.Since.IsZero() {
		a.first = e.time
	}
	size := int64(len(e.data))
	switch left := a.skip[e.stream]; {
	case missing, left > 0 && left < size:
		a.until, a.skip = a.w.Last(), [2]int64{}
	case left > 0:
		a.skip[e.stream] -= size
		a.mark(e)
		return true, nil
	}
	switch {
	case a.until.IsZero():
		return false, nil
	case !e.time.After(a.until):
		return true, nil
	}
	a.until = time.Time{}
	return false, a.rotated(e.time)
}

// errTurns says that the log may turn over soon.
var errTurns = errors.New("the log turns over")

// expected is the time of the first entry that is read again; when there was none
// yet, any may be.
func (a *archive) expected() time.Time {
	if !a.cursor.Since.IsZero() {
		return a.cursor.Since
	}
	return a.first
}

// rotated notes that the engine threw away what came after the cursor.
func (a *archive) rotated(first time.Time) error {
	if err := a.gap(gapRotated); err != nil {
		return err
	}
	t := a.w.Totals()
	a.cursor = cursor{Since: first, Offsets: [2]int64{t.StdoutBytes, t.StderrBytes}}
	a.marks = marker{end: a.cursor.Offsets, ready: first}
	return a.cursor.write(a.dir)
}

// mark keeps the cursor that an entry makes sure.
func (a *archive) mark(e entry) {
	sure := a.marks.pass(e.stream, e.time, len(e.data))
	if sure == nil {
		return
	}
	a.cursor = *sure
	if time.Since(a.saved) < cursorEvery {
		return
	}
	a.saved = time.Now()
	if err := a.cursor.write(a.dir); err != nil {
		a.l.log.Printf("write %s: %v", cursorFile, err) // the next one is as good
	}
}

// add puts an entry behind the chunk, or begins the next one.
func (a *archive) add(e entry) error {
	if len(a.chunk) > 0 && (e.stream != a.stream || e.time.Sub(a.from) > chunkTime || len(a.chunk) >= chunkBytes) {
		if err := a.flush(); err != nil {
			return err
		}
	}
	if len(a.chunk) == 0 {
		a.stream, a.from = e.stream, e.time
	}
	a.chunk, a.to = append(a.chunk, e.data...), e.time
	a.tap.Feed(e.stream, e.data)
	a.mark(e)
	if !a.polls && a.turns.pass(e.data, func() int64 { return a.l.rotation(a.run) }) {
		return errTurns
	}
	return nil
}

// pollPause is how often a log is read whose followers miss lines.
const pollPause = 300 * time.Millisecond

// pause ends early with the container.
func (a *archive) pause() {
	select {
	case <-a.run.ended:
	case <-a.l.ctx.Done():
	case <-time.After(pollPause):
	}
}

// flush archives the chunk. What a full disk does not take is counted by the writer.
func (a *archive) flush() error {
	if len(a.chunk) == 0 {
		return nil
	}
	err := a.w.Append(a.stream, a.chunk, a.to)
	if errors.Is(err, fs.ErrClosed) {
		return err
	}
	if a.unmarked += len(a.chunk); a.unmarked >= pointBytes {
		a.unmarked = 0
		a.point(a.w.Totals(), a.to)
	}
	a.chunk = a.chunk[:0]
	return nil
}

// gap notes that lines can be missing here. A line that it cuts gets an end, which
// the engine's log does not have: offsets behind it move.
func (a *archive) gap(text string) error {
	before := a.w.Totals()
	at := a.w.Last()
	if at.IsZero() {
		at = a.run.began
	}
	if err := a.w.Gap(text, at); err != nil {
		return err
	}
	after := a.w.Totals()
	moved := [2]int64{after.StdoutBytes - before.StdoutBytes, after.StderrBytes - before.StderrBytes}
	if moved == [2]int64{} {
		return nil
	}
	for s, n := range moved {
		a.cursor.Offsets[s] += n
		a.marks.end[s] += n
		if a.marks.pending != nil {
			a.marks.pending.Offsets[s] += n
		}
	}
	return a.cursor.write(a.dir)
}

// close completes the log. Only a log that is all there is marked as that.
func (a *archive) close() error {
	err := a.flush()
	if a.l.ctx.Err() == nil {
		a.cursor.Done = true
		err = errors.Join(err, a.cursor.write(a.dir))
	}
	err = errors.Join(err, a.w.Close(false))
	a.point(a.w.Totals(), time.Now())
	return err
}

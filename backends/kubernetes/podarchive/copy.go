package podarchive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
)

// GapReplaced is the notice between the logs of two pods of one attempt.
const GapReplaced = "gap: the pod was deleted and replaced by another one"

// position is the position up to which a log is copied; its JSON form is cursor.json. A log
// may come from several runs, one after the other.
type position struct {
	Pod     string             `json:"pod"`
	UID     string             `json:"uid"`
	Created time.Time          `json:"created"`
	Restart int                `json:"restart"`
	Base    int64              `json:"base"` // bytes of earlier runs
	Cursor  logcopy.LineCursor `json:"cursor"`
	// Early is the cursor of the next run if its first lines were copied before this run.
	Early logcopy.LineCursor `json:"early,omitzero"`
	// Refused is why the user may not read the run's log.
	Refused string `json:"refused,omitempty"`
}

func (p *position) run() Run {
	return Run{Pod: p.Pod, UID: p.UID, Created: p.Created, Restart: p.Restart}
}

// end returns the size in bytes of the copy up to the position.
func (p *position) end() int64 { return p.Base + p.Cursor.Offset }

// next returns the run to copy: the current one until its end, then its successor. A run that
// the cluster no longer has is Gone.
func (p *position) next(runs []Run) (Run, bool) {
	at := p.run()
	begun := p.UID != ""
	unfinished := begun && !p.Cursor.Done
	for i := range runs {
		r := &runs[i]
		if _, ok := p.beforeNext(r); ok {
			return *r, true
		}
		if unfinished && r.same(&at) || !unfinished && (!begun || r.compare(&at) > 0) {
			return *r, true
		}
	}
	at.State = logcopy.Gone
	return at, unfinished
}

// beforeNext returns where to resume run r if lines of the next run were copied as its own:
// a kubelet restarts a container, and sends its log, before it reports the restart.
func (p *position) beforeNext(r *Run) (from logcopy.LineCursor, ok bool) {
	at := p.run()
	isNext := func(t time.Time) bool { return !t.IsZero() && !t.Before(r.NextStarted) }
	switch c := p.Cursor; {
	case !r.same(&at), r.NextStarted.IsZero(), !isNext(c.Max):
		return from, false
	case isNext(c.First):
		return from, true
	case c.AtEOF != nil && !isNext(c.AtEOF.Max): // the next run's lines came in a stream of their own
		from = *c.AtEOF
		from.Offset, from.Done = 0, false
		return from, true
	}
	return from, false
}

// compare orders runs by time.
func (r *Run) compare(o *Run) int {
	return cmp.Or(r.Created.Compare(o.Created), cmp.Compare(r.UID, o.UID),
		cmp.Compare(r.Restart, o.Restart))
}

// log is the copy of one log. As a sink it has only the current run.
type log struct {
	*logcopy.Log
	at     position
	copied *logcopy.LinePosition // set while a run is copied
}

// openLog resumes or begins a log. stored is the cursor in the history, "" if none; keep
// receives the next ones.
func openLog(dir, stored string, keep func(text string)) (*log, error) {
	base, err := logcopy.OpenLog(dir)
	if err != nil {
		return nil, err
	}
	l := &log{Log: base}
	data, err := safefile.ReadFile(filepath.Join(dir, logcopy.CursorFile), logcopy.MaxCursor)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, base.Close())
	}
	// Both are valid, and the later one saves more work. A cursor beyond the size belongs to
	// an earlier log in this folder.
	for _, text := range []string{stored, string(data)} {
		var p position
		if text != "" && json.Unmarshal([]byte(text), &p) == nil && p.end() <= l.size() &&
			p.end() >= l.at.end() {
			l.at = p
		}
	}
	base.Dropped = func(n int64) { l.at.Base -= n } // dropped lines are not copied again
	base.Save = func() error { return l.save(keep) }
	return l, nil
}

// size returns the bytes of all runs.
func (l *log) size() int64 { return l.Log.Sizes()[logstore.Stdout] }

// Sizes implements logcopy.Sink.
func (l *log) Sizes() [2]int64 { return [2]int64{l.size() - l.at.Base} }

func (l *log) save(keep func(text string)) error {
	if l.copied != nil {
		if l.copied.Cursor.Offset > l.at.Cursor.Offset {
			l.at.Refused = "" // the right was granted since
		}
		l.at.Cursor = l.copied.Cursor
	}
	text, err := json.Marshal(l.at)
	if err != nil {
		return err
	}
	keep(string(text))
	if err := logcopy.WriteCursor(l.Dir, l.at); err != nil {
		return fmt.Errorf("write cursor of log: %w", err)
	}
	return nil
}

// complete reports whether all known runs of a log are archived.
func complete(dir string, runs []Run) bool {
	var at position
	if logcopy.ReadCursor(dir, &at) != nil || !at.Cursor.Done {
		return false
	}
	_, more := at.next(runs)
	return !more
}

// begin begins the copy of another run, on a new line.
func (l *log) begin(r *Run) error {
	at := l.at.run()
	next := position{Pod: r.Pod, UID: r.UID, Created: r.Created, Restart: r.Restart}
	from, isEarly := l.at.beforeNext(r)
	switch {
	case isEarly:
		next.Cursor, next.Early = from, l.at.Cursor
	case at.UID != "" && r.same(&at):
		return nil
	case r.UID == at.UID && r.Restart == at.Restart+1:
		next.Cursor = l.at.Early
		next.Cursor.Offset, next.Cursor.Done = 0, false
	}
	if at.UID != "" && l.at.end() < l.size() {
		if err := l.Write(logstore.Stdout, l.Last(), []byte{'\n'}); err != nil {
			return err
		}
	}
	if at.UID != "" && r.UID != at.UID { // Volcano replaces a pod within an attempt
		if err := l.Gap(GapReplaced); err != nil {
			return err
		}
	}
	if r.Restart > 0 && (r.UID != at.UID || r.Restart > at.Restart+1) {
		if err := l.Gap("gap: the node no longer has the log of earlier runs of the container"); err != nil {
			return err
		}
	}
	if err := l.Flush(); err != nil {
		return err
	}
	next.Base = l.size()
	l.at = next
	return l.Commit(true, true)
}

// errEarly ends the copy of a run as which lines of the next run were copied.
var errEarly = errors.New("the lines are those of the next run")

// isEarly reports whether lines of the next run were copied as those of run r.
func (l *log) isEarly(r *Run) bool {
	at := l.at
	at.Cursor = l.copied.Cursor
	_, ok := at.beforeNext(r)
	return ok
}

// copy copies run after run. Without follow it copies the current lines.
func (l *log) copy(ctx context.Context, of *view, follow bool) error {
	for {
		runs, changed, ended := of.runs()
		r, ok := l.at.next(runs)
		if !ok {
			if !follow || ended {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-changed:
			}
			continue
		}
		if err := l.begin(&r); err != nil {
			return err
		}
		var mode logcopy.Mode
		if follow {
			mode = Mode(true, 0)
		} else {
			mode = Mode(false, of.app.logPatience)
		}
		if l.at.Refused != "" {
			mode.GapGone = gapRefused + l.at.Refused
		}
		l.copied = logcopy.NewLinePosition(l.at.Cursor, l.Sizes()[logstore.Stdout])
		_, err := logcopy.Copy(ctx, &runView{of, r, l.isEarly}, l, l.copied, mode)
		l.at.Cursor, l.copied = l.copied.Cursor, nil
		if errors.Is(err, errEarly) {
			continue
		}
		if errors.Is(err, logcopy.ErrRefused) {
			l.at.Refused = err.Error()
			return errors.Join(err, l.Commit(true, true))
		}
		if err != nil || !l.at.Cursor.Done {
			return err
		}
	}
}

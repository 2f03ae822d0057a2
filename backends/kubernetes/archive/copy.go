package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"torchx/backends/kubernetes/podlog"
	"torchx/backends/logcopy"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
)

// GapReplaced stands between the logs of two pods of one attempt.
const GapReplaced = "gap: the pod was deleted, another one took its place"

// position is where the copy of a log stands; its JSON form is cursor.json. One log
// may come from several runs, one after the other.
type position struct {
	Pod     string             `json:"pod"`
	UID     string             `json:"uid"`
	Created time.Time          `json:"created"`
	Restart int                `json:"restart"`
	Base    int64              `json:"base"` // bytes of the runs before
	Cursor  logcopy.LineCursor `json:"cursor"`
	// Early is the cursor of the next run if its first lines were copied before this run.
	Early logcopy.LineCursor `json:"early,omitzero"`
}

func (p *position) run() Run {
	return Run{Pod: p.Pod, UID: p.UID, Created: p.Created, Restart: p.Restart}
}

// end is how much of the copy the position stands for, in bytes.
func (p *position) end() int64 { return p.Base + p.Cursor.Offset }

// next returns the run to copy: the current one if it is not at its end, else the
// one after it. A run that the cluster does not have any more is Gone.
func (p *position) next(runs []Run) (Run, bool) {
	at := p.run()
	begun := p.UID != ""
	unfinished := begun && !p.Cursor.Done
	for i := range runs {
		r := &runs[i]
		if p.hasLinesAfter(r) {
			return *r, true
		}
		if unfinished && r.same(&at) || !unfinished && (!begun || r.compare(&at) > 0) {
			return *r, true
		}
	}
	at.State = logcopy.Gone
	return at, unfinished
}

// hasLinesAfter reports whether the lines copied as run r were written after it ended,
// that is by the next run: a kubelet starts a container again, and sends its log, before
// it reports the restart.
func (p *position) hasLinesAfter(r *Run) bool {
	at := p.run()
	return r.same(&at) && r.Previous && !p.Cursor.First.IsZero() && !r.Ended.IsZero() && p.Cursor.First.After(r.Ended.Add(time.Second))
}

// compare orders runs by time.
func (r *Run) compare(o *Run) int {
	return cmp.Or(r.Created.Compare(o.Created), cmp.Compare(r.UID, o.UID), cmp.Compare(r.Restart, o.Restart))
}

// log is the copy of one log. As a sink it has the current run only.
type log struct {
	*logcopy.Log
	at position
	of *logcopy.LinePosition // while a run is copied
}

// openLog goes on with a log, or begins it. kept is the cursor that the history has,
// "" if none; keep takes the next ones.
func openLog(dir, kept string, keep func(text string)) (*log, error) {
	base, err := logcopy.OpenLog(dir)
	if err != nil {
		return nil, err
	}
	l := &log{Log: base}
	data, err := safefile.ReadFile(filepath.Join(dir, logcopy.CursorFile), logcopy.MaxCursor)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, base.Close())
	}
	// Both are true, the later one saves more work. One that does not fit belongs to a
	// log that was here before.
	for _, text := range []string{kept, string(data)} {
		var p position
		if text != "" && json.Unmarshal([]byte(text), &p) == nil && p.end() <= l.size() && p.end() >= l.at.end() {
			l.at = p
		}
	}
	base.Dropped = func(n int64) { l.at.Base -= n } // what was dropped is not asked for again
	base.Save = func() error { return l.save(keep) }
	return l, nil
}

// size returns the bytes of all runs.
func (l *log) size() int64 { return l.Log.Sizes()[logstore.Stdout] }

// Sizes implements logcopy.Sink.
func (l *log) Sizes() [2]int64 { return [2]int64{l.size() - l.at.Base} }

func (l *log) save(keep func(text string)) error {
	if l.of != nil {
		l.at.Cursor = l.of.Cursor
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

// complete reports whether all of a log is archived, as far as runs go.
func complete(dir string, runs []Run) bool {
	var at position
	if logcopy.ReadCursor(dir, &at) != nil || !at.Cursor.Done {
		return false
	}
	_, more := at.next(runs)
	return !more
}

// begin goes on to another run, whose log begins with a line of its own.
func (l *log) begin(r *Run) error {
	at := l.at.run()
	next := position{Pod: r.Pod, UID: r.UID, Created: r.Created, Restart: r.Restart}
	switch {
	case l.at.hasLinesAfter(r):
		next.Early = l.at.Cursor
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
		if err := l.Gap("gap: the node has no log of earlier runs of the container"); err != nil {
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

// copy copies run after run. Without follow it copies what is there now.
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
			mode = podlog.Mode(true, 0)
		} else {
			mode = podlog.Mode(false, of.app.patience)
		}
		l.of = logcopy.NewLinePosition(l.at.Cursor, l.Sizes()[logstore.Stdout])
		_, err := logcopy.Copy(ctx, &runView{of, r}, l, l.of, mode)
		l.at.Cursor, l.of = l.of.Cursor, nil
		if err != nil || !l.at.Cursor.Done {
			return err
		}
	}
}

package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/backends/kubernetes/podlog"
	"torchx/runtime/logstore"
)

const (
	// chunkTime and chunkBytes bound what is archived with one write: lines in it
	// share their time, as far as selecting by time is concerned.
	chunkTime  = 5 * time.Millisecond
	chunkBytes = 256 << 10
	// saveEvery is how often cursors are written: what is sent again after a kill.
	saveEvery = time.Second
)

// GapReplaced stands between the logs of two pods of one attempt.
const GapReplaced = "gap: the pod was deleted, another one took its place"

// place is where the copy of a log stands; its JSON form is cursor.json. One log
// may come from several runs, one after the other.
type place struct {
	Pod     string        `json:"pod"`
	UID     string        `json:"uid"`
	Created time.Time     `json:"created"`
	Restart int           `json:"restart"`
	Base    int64         `json:"base"` // bytes of the runs before
	Cursor  podlog.Cursor `json:"cursor"`
}

func (p *place) run() Run { return Run{Pod: p.Pod, UID: p.UID, Created: p.Created, Restart: p.Restart} }

// end is how far the place speaks for the archive.
func (p *place) end() int64 { return p.Base + p.Cursor.Offset }

// log copies one log; it is a podlog.Sink.
type log struct {
	dir  string
	key  string // of the cursor in the history
	keep func(key, text string)
	w    *logstore.Writer
	at   place

	chunk    []byte
	from, to time.Time // of the chunk's lines
	size     int64     // of the archive, with the chunk
	saved    time.Time
	unsaved  bool
}

// openLog goes on with a log, or begins it. kept is the cursor that the history has,
// "" if none; keep takes the next ones.
func openLog(dir, key, kept string, keep func(key, text string)) (*log, error) {
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
	l := &log{dir: dir, key: key, keep: keep, w: w, size: w.Totals().StdoutBytes}
	data, err := os.ReadFile(filepath.Join(dir, cursorFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, w.Close(false))
	}
	// Both are true, the later one saves more work. What does not fit is of a log that
	// was here before.
	for _, text := range []string{kept, string(data)} {
		var p place
		if text != "" && json.Unmarshal([]byte(text), &p) == nil && p.end() <= l.size && p.end() >= l.at.end() {
			l.at = p
		}
	}
	return l, nil
}

// Size is what is archived of the current run.
func (l *log) Size() int64 { return l.size - l.at.Base }

// Write puts a line behind the chunk, or begins the next one.
func (l *log) Write(t time.Time, p []byte) error {
	if len(l.chunk) > 0 && (t.Sub(l.from) > chunkTime || len(l.chunk) >= chunkBytes) {
		if err := l.flush(); err != nil {
			return err
		}
	}
	if len(l.chunk) == 0 {
		l.from = t
	}
	l.chunk, l.to = append(l.chunk, p...), t
	l.size += int64(len(p))
	return nil
}

// flush archives the chunk. What a full disk does not take is counted by the writer.
func (l *log) flush() error {
	if len(l.chunk) == 0 {
		return nil
	}
	err := l.w.Append(logstore.Stdout, l.chunk, l.to)
	l.chunk = l.chunk[:0]
	if errors.Is(err, fs.ErrClosed) {
		return err
	}
	moved := l.w.Totals().StdoutBytes - l.size // what was dropped is not asked for again
	l.at.Base, l.size = l.at.Base+moved, l.size+moved
	return nil
}

// Gap notes that lines can be missing here.
func (l *log) Gap(text string) error {
	if err := l.flush(); err != nil {
		return err
	}
	at := l.w.Last()
	if at.IsZero() {
		at = time.Now()
	}
	before := l.w.Totals().StdoutBytes
	err := l.w.Gap(text, at)
	l.size += l.w.Totals().StdoutBytes - before
	return err
}

// Rest writes what has come, and now and then where to go on.
func (l *log) Rest(c podlog.Cursor) error {
	if err := l.flush(); err != nil {
		return err
	}
	l.at.Cursor, l.unsaved = c, true
	if time.Since(l.saved) < saveEvery && !c.Done {
		return nil
	}
	return l.save()
}

func (l *log) save() error {
	if !l.unsaved {
		return nil
	}
	l.saved, l.unsaved = time.Now(), false
	text, err := json.Marshal(l.at)
	if err != nil {
		return err
	}
	l.keep(l.key, string(text))
	if err := replaceJSON(filepath.Join(l.dir, cursorFile), l.at); err != nil {
		return fmt.Errorf("write cursor of log: %w", err)
	}
	return nil
}

func (l *log) close() error {
	return errors.Join(l.flush(), l.save(), l.w.Close(false))
}

// complete tells whether a log is all archived, as far as runs go.
func complete(dir string, runs []Run) bool {
	data, err := os.ReadFile(filepath.Join(dir, cursorFile))
	l := &log{}
	if err != nil || json.Unmarshal(data, &l.at) != nil || !l.at.Cursor.Done {
		return false
	}
	_, more := l.next(runs)
	return !more
}

// next is the run to copy: the one that is not at its end, else the one after it. A
// run that is not among those of the cluster any more is Gone.
func (l *log) next(runs []Run) (Run, bool) {
	at := l.at.run()
	begun := l.at.UID != ""
	for i := range runs {
		r := &runs[i]
		if begun && !l.at.Cursor.Done && r.same(&at) {
			return *r, true
		}
	}
	if begun && !l.at.Cursor.Done {
		at.State = podlog.Gone
		return at, true
	}
	for i := range runs {
		if r := &runs[i]; !begun || after(r, &at) {
			return *r, true
		}
	}
	return Run{}, false
}

// after tells whether a run is later than another.
func after(r, o *Run) bool {
	return cmp.Or(r.Created.Compare(o.Created), cmp.Compare(r.UID, o.UID), cmp.Compare(r.Restart, o.Restart)) > 0
}

// turn goes on to another run, whose log begins with a line of its own.
func (l *log) turn(r *Run) error {
	at := l.at.run()
	if at.UID != "" && r.same(&at) {
		return nil
	}
	if l.at.UID != "" && l.at.end() < l.size {
		if err := l.Write(l.w.Last(), []byte{'\n'}); err != nil {
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
	if err := l.flush(); err != nil {
		return err
	}
	l.at = place{Pod: r.Pod, UID: r.UID, Created: r.Created, Restart: r.Restart, Base: l.size}
	l.unsaved = true
	return l.save()
}

// copy copies run after run. Without follow it copies what is there now.
func (l *log) copy(ctx context.Context, of *view, follow bool) error {
	for {
		runs, changed, over := of.runs()
		r, ok := l.next(runs)
		if !ok {
			if !follow || over {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-changed:
			}
			continue
		}
		if err := l.turn(&r); err != nil {
			return err
		}
		mode := podlog.Mode{Follow: follow}
		if !follow {
			mode.Patience = of.app.patience
		}
		_, err := podlog.Copy(ctx, &runView{of, r}, l, l.at.Cursor, mode)
		if err != nil || !l.at.Cursor.Done {
			return err
		}
	}
}

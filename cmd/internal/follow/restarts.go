package follow

import (
	"fmt"
	"sync"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/logview"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

const (
	// maxAnnounced bounds the restarts that are announced together: thousands of replicas
	// may fail at once.
	maxAnnounced = 8
	// oldRestart is the age from which on the announcement of a restart says it.
	oldRestart = 5 * time.Second
	// hintTime is how long an app must look as if it would not end before that is said: a
	// server may take a moment to see that it is no longer needed.
	hintTime = 2 * time.Second
)

// Announcer says on stderr when an app that the command follows is restarted, once, and
// hints at roles that keep it from ending.
type Announcer struct {
	console *ui.Console
	target  LogTarget
	notes   *logview.Notes
	stop    func()
	pending *pendingAnnouncer

	mu    sync.Mutex
	known map[restartKey]bool
	left  *time.Timer // until the hint; nil: not needed
}

type restartKey struct {
	spec.Replica
	attempt int
}

// Announce begins to announce the restarts of a target: between the lines of its logs
// once a LogPrinter has the announcer, or at once if there is none. The caller stops it.
func Announce(c *ui.Console, r *runner.Runner, t LogTarget, withLogs bool) *Announcer {
	a := &Announcer{console: c, target: t, notes: logview.NewNotes(), known: map[restartKey]bool{}}
	if !withLogs {
		a.notes.Close()
	}
	a.stop = r.Observe(t.Ref, a.see)
	a.pending = announcePending(c, r, t.Ref)
	return a
}

// Stop ends the announcements.
func (a *Announcer) Stop() {
	a.stop()
	a.pending.close()
	a.notes.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left != nil {
		a.left.Stop()
	}
}

// see takes a status of the app.
func (a *Announcer) see(s *spec.Status) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hint(s)
	var news []spec.Restart
	for _, r := range s.Restarts {
		key := restartKey{spec.Replica{Role: r.Role, ID: r.Replica}, r.Attempt}
		if !a.known[key] {
			a.known[key] = true
			if a.concerns(r) {
				news = append(news, r)
			}
		}
	}
	if more := len(news) - maxAnnounced; more > 0 {
		a.say(news[more].Attempt, "%s before these: torchx events %s", ui.Counted(more, "restart"), a.target.Ref.Handle())
		news = news[more:]
	}
	for _, r := range news {
		age := ""
		if d := time.Since(r.Time); d >= oldRestart && !r.Time.IsZero() {
			age = fmt.Sprintf(" (%s ago)", ui.Age(d))
		}
		a.say(r.Attempt, "%s%s", r, age)
	}
}

// concerns reports whether a restart starts a replica of the target again.
func (a *Announcer) concerns(r spec.Restart) bool {
	if a.target.Role == "" {
		return true
	}
	one := spec.Replica{Role: a.target.Role, ID: r.Replica}
	if len(a.target.IDs) == 0 {
		return r.Restarts(one)
	}
	for _, one.ID = range a.target.IDs {
		if r.Restarts(one) {
			return true
		}
	}
	return false
}

// hint says which roles are left running if the app stays so.
func (a *Announcer) hint(s *spec.Status) {
	text := ui.LeftRunning(s)
	switch {
	case text == "" && a.left != nil:
		a.left.Stop()
		a.left = nil
	case text != "" && a.left == nil:
		a.left = time.AfterFunc(hintTime, func() { a.say(-1, "%s", text) })
	}
}

// say says a line after those of an attempt.
func (a *Announcer) say(after int, format string, args ...any) {
	a.notes.Add(logview.Note{After: after, Make: func(midLine bool) {
		if midLine && ui.IsTerminal(a.console.Out) && ui.IsTerminal(a.console.Err) {
			fmt.Fprintln(a.console.Err)
		}
		a.console.Say(format, args...)
	}})
}

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
	// maxAnnounced limits the restarts that are announced together: thousands of replicas
	// may fail at the same time.
	maxAnnounced = 8
	// oldRestart is the age from which an announcement includes the age of the restart.
	oldRestart = 5 * time.Second
	// hintTime is how long roles must be left running before the hint about them: a server
	// may need a moment to notice that it is no longer needed.
	hintTime = 2 * time.Second
)

// Announcer prints each restart of a followed app on stderr, once, and a hint about roles
// that keep the app from ending.
type Announcer struct {
	console *ui.Console
	target  LogTarget
	label   string // begins each line
	notes   *logview.Notes
	stop    func()
	pending *pendingAnnouncer

	mu    sync.Mutex
	known map[restartKey]bool
	left  *time.Timer // until the hint; may be nil
}

type restartKey struct {
	spec.Replica
	attempt int
}

// Announce begins to announce the restarts of a target: with logs, between the lines that a
// LogPrinter with the announcer prints, otherwise immediately. The caller stops it.
func Announce(c *ui.Console, r *runner.Runner, t LogTarget, withLogs bool) *Announcer {
	a := &Announcer{console: c, target: t, notes: logview.NewNotes(), known: map[restartKey]bool{}}
	if !withLogs {
		a.notes.Close()
	}
	a.start(r)
	return a
}

// announceOneOfSeveral announces the restarts of an app immediately, and names the app.
func announceOneOfSeveral(c *ui.Console, r *runner.Runner, ref runner.Ref) *Announcer {
	a := &Announcer{console: c, target: LogTarget{Ref: ref}, label: ref.Handle() + ": ", notes: logview.NewNotes(), known: map[restartKey]bool{}}
	a.notes.Close()
	a.start(r)
	return a
}

func (a *Announcer) start(r *runner.Runner) {
	a.stop = r.Observe(a.target.Ref, a.observe)
	a.pending = announcePending(a.console, r, a.target.Ref)
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

// observe announces what is new in a status of the app.
func (a *Announcer) observe(s *spec.Status) {
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
		a.say(news[more].Attempt, "%s earlier: torchx events %s", ui.Counted(more, "restart"),
			a.target.Ref.Handle())
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

// concerns reports whether a restart restarts a replica of the target.
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

// hint announces which roles are left running, unless that changes within hintTime.
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

// say prints a line after those of an attempt.
func (a *Announcer) say(after int, format string, args ...any) {
	a.notes.Add(logview.Note{After: after, Print: func(midLine bool) {
		if midLine && ui.IsTerminal(a.console.Out) && ui.IsTerminal(a.console.Err) {
			fmt.Fprintln(a.console.Err)
		}
		a.console.Say("%s", a.label+fmt.Sprintf(format, args...))
	}})
}

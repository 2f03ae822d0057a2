package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/procs"
)

// A home keeps one entry in its folder "live" for each app that has not ended: a
// second name of the bundle's lock file. Thus every command can see which agents
// died, however many finished bundles there are, and the lock can still be asked
// for when the bundle itself was deleted.
const liveFolder = "live"

// endingWait bounds the wait for an agent that is about to end.
const endingWait = 2 * time.Second

// errHeld says that somebody else holds a lock.
var errHeld = errors.New("lock is held")

// holder is the content of agent.lock: the submitter names the app, the agent adds
// itself.
type holder struct {
	Handle string `json:"handle,omitempty"`
	PID    int    `json:"pid,omitempty"`
}

func (h holder) encode() []byte {
	data, _ := json.Marshal(h) // plain fields cannot fail
	return append(data, '\n')
}

// readHolder returns what is known so far; a text that is just being written says
// nothing.
func readHolder(path string) (h holder, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return h, fmt.Errorf("read %s: %w", lockFile, err)
	}
	if !json.Valid(data) {
		return h, nil
	}
	return h, json.Unmarshal(data, &h)
}

func liveDir(home string) string { return filepath.Join(home, liveFolder) }

// home is the folder that the bundle belongs to.
func (b Bundle) home() string { return filepath.Dir(filepath.Dir(b.Dir)) }

func (b Bundle) marker() string { return filepath.Join(liveDir(b.home()), filepath.Base(b.Dir)) }

// mark enters the bundle among the live ones. An entry of that name is of an app
// that was deleted: the bundle would not be new otherwise.
func (b Bundle) mark(h holder) error {
	if err := makePrivate(liveDir(b.home())); err != nil {
		return fmt.Errorf("create %s: %w", liveDir(b.home()), err)
	}
	err := os.Link(b.path(lockFile), b.marker())
	if errors.Is(err, fs.ErrExist) {
		b.unmark()
		err = os.Link(b.path(lockFile), b.marker())
	}
	if err != nil { // a file system without hard links: the bundle has the lock
		err = os.WriteFile(b.marker(), h.encode(), 0o600)
	}
	if err != nil {
		return fmt.Errorf("mark app as live: %w", err)
	}
	return nil
}

// unmark is for an app that has ended; an entry that stays costs a look.
func (b Bundle) unmark() { _ = os.Remove(b.marker()) }

// Sweep ends what dead agents of a home left running and writes their apps'
// results; what left containers gets a new agent, by the program exe. It looks at
// live apps only, so that every command can afford it. It does what it can: an app
// that cannot be looked at is the next command's.
func Sweep(home, exe string) error {
	entries, err := os.ReadDir(liveDir(home))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for apps whose agent died: %w", err)
	}
	var errs []error
	for _, e := range entries {
		b := Bundle{filepath.Join(appsDir(home), e.Name())}
		if b.lives() {
			continue
		}
		s, err := b.Tend(exe) // takes the mark off
		switch {
		case errors.Is(err, fs.ErrNotExist):
			b.sweepDeleted()
		case err != nil:
			errs = append(errs, fmt.Errorf("app folder %s: %w", b.Dir, err))
		case s.State.Terminal():
			b.unmark()
		}
	}
	return errors.Join(errs...)
}

// lives reports whether somebody holds the app: an agent, or its submitter. It
// waits for an agent that is about to let go: one that was killed just now, or one
// that learns here that its bundle was deleted.
func (b Bundle) lives() bool {
	told := false
	for deadline := time.Now().Add(endingWait); held(b.marker()) || b.Held(); time.Sleep(time.Millisecond) {
		h, err := readHolder(b.marker())
		if err != nil || h.PID == 0 || time.Now().After(deadline) {
			return true
		}
		_, there := procs.Get(h.PID)
		switch {
		case !there: // it ended just now, or is none of this machine's
			return held(b.marker()) || b.Held()
		case told || procs.Dying(h.PID):
		case b.deleted():
			b.tellDeleted()
			told = true
		default:
			return true
		}
	}
	return false
}

// sweepDeleted is for an app whose bundle was deleted while it ran.
func (b Bundle) sweepDeleted() {
	h, err := readHolder(b.marker())
	if err != nil {
		return // somebody else was faster
	}
	if h.Handle != "" {
		endRemains(h.Handle, nil)
	}
	b.unmark()
}

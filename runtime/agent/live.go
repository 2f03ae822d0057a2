package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A home keeps one entry in its folder "live" for each app that has not ended: a
// second name of the bundle's lock file. Thus every command can see which agents
// died, however many finished bundles there are, and the lock can still be asked
// for when the bundle itself was deleted.
const liveFolder = "live"

// holder is the content of agent.lock, a JSON text for each who has something to
// say: the submitter names the app, the agent itself.
type holder struct {
	Handle string `json:"handle,omitempty"`
	PID    int    `json:"pid,omitempty"`
}

func (h holder) encode() []byte {
	data, _ := json.Marshal(h) // plain fields cannot fail
	return append(data, '\n')
}

// readHolder returns what is known so far; a text that is just being written is
// left out.
func readHolder(path string) (holder, error) {
	f, err := os.Open(path)
	if err != nil {
		return holder{}, fmt.Errorf("read %s: %w", lockFile, err)
	}
	defer f.Close()
	var h holder
	for d := json.NewDecoder(f); d.Decode(&h) == nil; {
	}
	return h, nil
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
// results. It looks at live apps only, so that every command can afford it. It
// does what it can: an app that cannot be looked at is the next command's.
func Sweep(home string) error {
	entries, err := os.ReadDir(liveDir(home))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for apps whose agent died: %w", err)
	}
	var errs []error
	for _, e := range entries {
		b := Bundle{filepath.Join(appsDir(home), e.Name())}
		if held(b.marker()) || b.Held() {
			continue
		}
		_, err := b.Inspect() // takes the mark off
		switch {
		case errors.Is(err, fs.ErrNotExist):
			b.sweepDeleted()
		case err != nil:
			errs = append(errs, fmt.Errorf("app folder %s: %w", b.Dir, err))
		default:
			b.unmark()
		}
	}
	return errors.Join(errs...)
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

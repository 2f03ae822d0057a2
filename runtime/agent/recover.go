package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"torchx/runtime/filelock"
	"torchx/runtime/safefile"
)

// LiveFolder is the folder of a home that has one entry for each app that has not ended: a hard
// link to the bundle's lock file. Every command can see from it which agents died, regardless
// of the number of finished bundles, and test the lock of a deleted bundle.
const LiveFolder = "live"

func liveDir(home string) string { return filepath.Join(home, LiveFolder) }

// home returns the folder of the home that the bundle belongs to.
func (b Bundle) home() string { return filepath.Dir(filepath.Dir(b.Dir)) }

// supervisor returns the Supervisor of the bundle's agent.
func (b Bundle) supervisor() Supervisor { return Supervisor{b.Dir, liveDir(b.home()), manifestFile} }

// Held reports whether an agent, or the submitter, holds the bundle's lock.
func (b Bundle) Held() bool { return filelock.Held(b.path(lockFile)) }

// enterLive adds an entry for the bundle. An existing entry of that name belongs to a
// deleted app, since the bundle is new.
func (b Bundle) enterLive(h holder) error {
	l := b.supervisor()
	if err := makePrivate(l.LiveDir); err != nil {
		return fmt.Errorf("create %s: %w", l.LiveDir, err)
	}
	err := os.Link(l.lock(), l.Entry())
	if errors.Is(err, fs.ErrExist) {
		l.RemoveEntry()
		err = os.Link(l.lock(), l.Entry())
	}
	if err != nil { // a file system without hard links: the bundle has the lock
		err = safefile.WriteFile(l.Entry(), h.encode())
	}
	if err != nil {
		return fmt.Errorf("mark app as live: %w", err)
	}
	return nil
}

// liveBundles lists the bundles that have a live entry.
func liveBundles(home string) ([]Bundle, error) {
	entries, err := LiveEntries(liveDir(home))
	if err != nil {
		return nil, fmt.Errorf("list live apps: %w", err)
	}
	bundles := make([]Bundle, len(entries))
	for i, e := range entries {
		bundles[i] = BundleOf(home, e.Name())
	}
	return bundles, nil
}

// RecoverAll ends what dead agents of a home left running and writes their apps' results; an app
// of containers gets a new agent with the program exe. It reads only live apps, so that
// every command can afford it. It continues after errors and joins them.
func RecoverAll(home, exe string) error {
	bundles, err := liveBundles(home)
	errs := []error{err}
	for _, b := range bundles {
		if b.supervisor().Alive() {
			continue
		}
		s, err := b.Recover(exe) // removes the entry
		switch {
		case errors.Is(err, fs.ErrNotExist):
			b.recoverDeleted()
		case err != nil:
			errs = append(errs, fmt.Errorf("app folder %s: %w", b.Dir, err))
		case s.State.Terminal():
			errs = append(errs, b.noteEnd(s))
			b.supervisor().RemoveEntry()
		}
	}
	return errors.Join(append(errs, RunOnEnd(home, exe))...)
}

// DeadApps returns the folder names of apps whose agent died and whose result is not
// written yet; the next RecoverAll writes it.
func DeadApps(home string) ([]string, error) {
	bundles, err := liveBundles(home)
	var dead []string
	for _, b := range bundles {
		if !b.supervisor().held() {
			dead = append(dead, filepath.Base(b.Dir))
		}
	}
	return dead, err
}

// recoverDeleted ends an app whose bundle was deleted while it ran.
func (b Bundle) recoverDeleted() {
	h, err := readHolder(b.supervisor().Entry())
	if err != nil && !errors.Is(err, safefile.ErrNotRegular) {
		return // another process was faster
	}
	if h.Handle != "" {
		killOrphans(b.Dir, h.Handle, nil)
	}
	b.supervisor().RemoveEntry()
}

package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/filelock"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// OnEndFolder is the folder of an app with what runs at its end (package onend). Its path is
// the argument of the process that does it.
const OnEndFolder = "on_end"

// Names of files in OnEndFolder.
const (
	EndFile    = "end.json" // an End; it exists once the app has ended
	onEndLock  = "lock"     // held by the process that runs the actions
	EndsFolder = "ends"     // of a home: an entry for each app whose actions are not done
)

// End is how an app ended, and what to do about it.
type End struct {
	backend.OnEnd
	Status spec.Status `json:"status"` // without roles
}

// ReadEnd reads the end of an app from its OnEndFolder.
func ReadEnd(dir string) (*End, error) {
	e := &End{}
	return e, readJSON(filepath.Join(dir, EndFile), e)
}

// LockOnEnd takes the lock of an OnEndFolder. Errors: filelock.ErrHeld.
func LockOnEnd(dir string) (*filelock.Lock, error) {
	return filelock.TryAcquire(filepath.Join(dir, onEndLock))
}

// NoteEnd records the end of the app in folder, for the process that RunOnEnd starts. It may
// be called again: the first record counts.
func NoteEnd(home, folder string, on *backend.OnEnd, s *spec.Status) error {
	if on == nil || len(on.Actions) == 0 {
		return nil
	}
	dir := filepath.Join(folder, OnEndFolder)
	if _, err := os.Lstat(filepath.Join(dir, EndFile)); err != nil {
		short := *s
		short.Roles, short.Past, short.Restarts, short.StructuredErrorMsg = nil, nil, nil, nil
		if err := makePrivate(dir); err != nil {
			return fmt.Errorf("create %s: %w", dir, err)
		}
		if err := WriteJSON(filepath.Join(dir, EndFile), End{*on, short}, true); err != nil {
			return fmt.Errorf("write %s: %w", EndFile, err)
		}
	}
	entry := endEntry(home, dir)
	if err := makePrivate(filepath.Dir(entry)); err != nil {
		return fmt.Errorf("create %s: %w", filepath.Dir(entry), err)
	}
	if err := safefile.WriteFile(entry, []byte(dir)); err != nil {
		return fmt.Errorf("write %s: %w", entry, err)
	}
	return nil
}

// endEntry returns the entry of an OnEndFolder among those that are not done: apps-ID.
func endEntry(home, dir string) string {
	app := filepath.Dir(dir)
	return filepath.Join(home, EndsFolder, filepath.Base(filepath.Dir(app))+"-"+filepath.Base(app))
}

// EndDone removes the entry of an OnEndFolder whose actions are done.
func EndDone(dir string) {
	home := filepath.Dir(filepath.Dir(filepath.Dir(dir)))
	_ = os.Remove(endEntry(home, dir)) // on failure the next command finds nothing left to do
}

// RunOnEnd starts a process for each app of a home whose actions are not done and that has no
// such process. The processes outlive the caller.
func RunOnEnd(home, exe string) error {
	entries, err := LiveEntries(filepath.Join(home, EndsFolder))
	errs := []error{err}
	for _, e := range entries {
		entry := filepath.Join(home, EndsFolder, e.Name())
		data, err := safefile.ReadFile(entry, maxHolder)
		dir := string(data)
		if err != nil || endEntry(home, dir) != entry ||
			!strings.HasPrefix(dir, home+string(filepath.Separator)) {
			errs = append(errs, err)
			continue
		}
		_, err = os.Lstat(filepath.Join(dir, EndFile))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			EndDone(dir) // the app was deleted
		case err != nil:
			errs = append(errs, err)
		case !filelock.Held(filepath.Join(dir, onEndLock)):
			errs = append(errs, startOnEnd(exe, dir))
		}
	}
	return errors.Join(errs...)
}

func startOnEnd(exe, dir string) error {
	process, err := Supervisor{Dir: dir}.Start(exe)
	if err != nil {
		return fmt.Errorf("start what runs at the end: %w", err)
	}
	Reap(process)
	return nil
}

// noteEnd is NoteEnd for the bundle's app.
func (b Bundle) noteEnd(s *spec.Status) error {
	m, err := b.Manifest()
	if err != nil {
		return err
	}
	return NoteEnd(b.home(), b.Dir, m.OnEnd, s)
}

// runOnEnd starts what runs at the end of the agent's app.
func (a *agent) runOnEnd() {
	if a.manifest.OnEnd == nil {
		return
	}
	exe, err := os.Executable()
	if err == nil {
		err = RunOnEnd(a.manifest.Home, exe)
	}
	a.logError(err)
}

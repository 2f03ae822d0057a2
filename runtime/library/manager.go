package library

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"
	"golang.org/x/sync/errgroup"

	"torchx/runtime/library/git"
)

// parallel is how many libraries are fetched concurrently.
const parallel = 4

// Manager changes the libraries of one project; its methods implement `torchx lib`. Files of
// the project are replaced atomically, and only when all required files are in the cache;
// several processes may work concurrently.
type Manager struct {
	Root  string // of the project, absolute
	Dir   string // paths in messages are relative to it; "": they are absolute
	Cache *Cache
	Git   *git.Client
	// Loads returns the libraries that a Starlark file loads, with the line of each. Its
	// errors call the file name.
	Loads func(name string, source []byte) ([]Need, error)
	// Report is called with messages about slow operations and other notes; may be nil.
	Report func(text string)
}

// Need is a library that a file loads.
type Need struct {
	Name string
	Line int // of the load statement
}

// Change is the effect of a command on a library: Old is nil if it is new, New is nil if it was
// removed, and both are the same if only its files were fetched.
type Change struct {
	Name     string
	Old, New *Locked
}

func (m *Manager) report(format string, args ...any) {
	if m.Report != nil {
		m.Report(fmt.Sprintf(format, args...))
	}
}

// path returns the path of a project file as shown in messages.
func (m *Manager) path(name string) string { return displayPath(filepath.Join(m.Root, name), m.Dir) }

func (m *Manager) state() (*state, error) { return readState(m.Root, m.Dir) }

// needProject is state with an error if torchx.libs does not exist.
func (m *Manager) needProject() (*state, error) {
	st, err := m.state()
	if err == nil && st.project == nil {
		err = fmt.Errorf("%s not found: create it with `torchx lib add NAME URL [REVISION]`",
			m.path(ProjectFile))
	}
	return st, err
}

// edit changes the files of the project while no other process does; change gets their current
// state. The lock is written first: an unused entry in it is harmless.
func (m *Manager) edit(change func(*state) error) error {
	unlock, err := m.lockProject()
	if err != nil {
		return err
	}
	defer unlock()
	st, err := m.state()
	if err != nil {
		return err
	}
	if st.project == nil {
		st.project = &Project{}
	}
	project, lock := string(st.project.Text()), string(st.lock.Text())
	before := st.lock.Libraries
	if err := change(st); err != nil {
		return err
	}
	if text := st.lock.Text(); string(text) != lock {
		if err := writeFile(filepath.Join(m.Root, LockFile), text); err != nil {
			return err
		}
	}
	if text := st.project.Text(); string(text) != project {
		if err := writeFile(filepath.Join(m.Root, ProjectFile), text); err != nil {
			return err
		}
	}
	if info, err := os.Lstat(filepath.Join(m.Root, VendorDir)); err == nil && info.IsDir() {
		return m.writeVendor(st, before)
	}
	return nil
}

// lockProject waits until no other process changes this project, and keeps others waiting until
// unlock is called. It must not be held during a fetch.
func (m *Manager) lockProject() (unlock func(), err error) {
	if err := m.Cache.folder("locks"); err != nil {
		return nil, err
	}
	dir := filepath.Join(m.Cache.Dir, "locks")
	unlock, err = lockedfile.MutexAt(filepath.Join(dir, SumOf([]byte(m.Root)).String()[:16])).Lock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", m.path(ProjectFile), pathCause(err))
	}
	return unlock, nil
}

// forEach calls do for all items, some concurrently, and joins the errors.
func forEach[T any](
	ctx context.Context, items []T, do func(ctx context.Context, i int, item T) error,
) error {
	failures := make([]error, len(items))
	g := errgroup.Group{}
	g.SetLimit(parallel)
	for i, item := range items {
		g.Go(func() error {
			if failures[i] = context.Cause(ctx); failures[i] == nil {
				failures[i] = do(ctx, i, item)
			}
			return nil
		})
	}
	_ = g.Wait() // the errors are in failures
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(failures...)
}

// Add adds a library, locks it and fetches its files. The default revision is the newest
// release among the tags, vX.Y.Z, else the branch of HEAD.
func (m *Manager) Add(ctx context.Context, lib Library) (*Change, error) {
	if err := checkNew(lib); err != nil {
		return nil, err
	}
	st, err := m.state()
	if err != nil {
		return nil, err
	}
	if err := m.checkNotListed(st, lib.Name); err != nil {
		return nil, err
	}
	if lib.URL != "" && lib.Revision == "" {
		if lib.Revision, err = m.defaultRevision(ctx, lib); err != nil {
			return nil, err
		}
	}
	locked, err := m.lockLibrary(ctx, lib, "")
	if err != nil {
		return nil, err
	}
	err = m.edit(func(st *state) error {
		if err := m.checkNotListed(st, lib.Name); err != nil {
			return err
		}
		st.lock.Set(locked)
		return st.project.Set(lib)
	})
	return &Change{Name: lib.Name, New: locked}, err
}

// checkNew is Library.Check for a library that may have no revision yet.
func checkNew(lib Library) error {
	if lib.URL != "" && lib.Revision == "" {
		lib.Revision = "HEAD"
	}
	return lib.Check()
}

func (m *Manager) checkNotListed(st *state, name string) error {
	if st.project == nil {
		return nil
	}
	if old, ok := st.project.Find(name); ok {
		return fmt.Errorf("%s:%d already lists %s: `torchx lib update %s@REVISION` changes its revision", m.path(ProjectFile), old.Line, name, name)
	}
	return nil
}

// Replace writes a line that replaces a library with a folder.
func (m *Manager) Replace(name, folder string) error {
	if err := CheckFolder(folder); err != nil {
		return err
	}
	dir := folderOf(m.Root, folder)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is not a folder", displayPath(dir, m.Dir))
	}
	return m.edit(func(st *state) error {
		if err := m.checkListed(st, []string{name}); err != nil {
			return err
		}
		return st.project.SetReplacement(name, folder)
	})
}

// Unreplace removes such a line.
func (m *Manager) Unreplace(name string) error {
	return m.edit(func(st *state) error {
		if err := m.checkListed(st, []string{name}); err != nil {
			return err
		}
		return st.project.Unreplace(name)
	})
}

// Remove removes libraries from the project.
func (m *Manager) Remove(names []string) ([]Change, error) {
	if _, err := m.needProject(); err != nil {
		return nil, err
	}
	var changes []Change
	err := m.edit(func(st *state) error {
		if err := m.checkListed(st, names); err != nil {
			return err
		}
		for _, name := range names {
			changes = append(changes, Change{Name: name, Old: st.lock.Find(name)})
			if err := st.project.Remove(name); err != nil {
				return err
			}
			st.lock.Remove(name)
		}
		return nil
	})
	return changes, err
}

// checkListed returns an error with all names that the project does not list.
func (m *Manager) checkListed(st *state, names []string) error {
	var known []string
	if st.project != nil {
		known = st.project.Names()
	}
	unknown := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(known, name) })
	if len(unknown) == 0 {
		return nil
	}
	return &UnknownError{File: m.path(ProjectFile), Names: unknown, Known: known}
}

// UnknownError means that the project does not list some libraries.
type UnknownError struct {
	File         string
	Names, Known []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s has no library %s", e.File, joinAnd(e.Names))
}

// joinAnd joins words for a sentence: "a, b and c".
func joinAnd(words []string) string {
	if n := len(words) - 1; n > 0 {
		return strings.Join(words[:n], ", ") + " and " + words[n]
	}
	return words[0]
}

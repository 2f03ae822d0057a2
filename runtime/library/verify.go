package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Verified is the result of Verify.
type Verified struct{ Libraries, Files, Replaced int }

// Verify compares all files of all libraries with the lock, wherever they are stored. It also
// checks for libraries that others load but the project does not list. It does not fetch. The
// error joins all problems.
func (m *Manager) Verify(ctx context.Context) (Verified, error) {
	var done Verified
	st, err := m.needProject()
	if err != nil {
		return done, err
	}
	var problems []error
	for _, lib := range st.project.Libraries {
		if ctx.Err() != nil {
			return done, context.Cause(ctx)
		}
		if _, replaced := st.project.Replacement(lib.Name); replaced {
			done.Replaced++
			continue
		}
		k, err := st.locked(lib)
		if err == nil {
			err = m.check(ctx, k)
		} else {
			err = fmt.Errorf("library @%s: %w", lib.Name, err)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		done.Libraries++
		done.Files += len(k.Files)
	}
	if err := m.missing(ctx, st); err != nil {
		problems = append(problems, err)
	}
	return done, errors.Join(problems...)
}

// check compares all files of a library with the lock.
func (m *Manager) check(ctx context.Context, k *Locked) error {
	switch {
	case isVendored(m.Root, k.Name):
		return m.checkVendored(k)
	case k.Folder != "":
		now, err := m.lockLibrary(ctx, k.Library, "")
		if err != nil {
			return err
		}
		if d := Compare(k, now); !d.IsEmpty() {
			return changedError(k.Library, d)
		}
		return nil
	}
	for _, f := range k.Files {
		if _, err := (&Set{Cache: m.Cache}).readCached(f.Sum); err != nil {
			return fmt.Errorf("library @%s: %s: %w", k.Name, f.Name, err)
		}
	}
	return nil
}

// Missing returns an error with all libraries that listed ones load but the project does not
// list, or nil. It skips unreadable files.
func (m *Manager) Missing(ctx context.Context) error {
	st, err := m.state()
	if err != nil || st.project == nil {
		return err
	}
	return m.missing(ctx, st)
}

func (m *Manager) missing(ctx context.Context, st *state) error {
	found := map[string]string{} // library → a load of it
	set := &Set{Cache: m.Cache, Dir: m.Dir}
	for _, lib := range st.project.Libraries {
		fsys, err := set.Open(m.Root, lib.Name)
		if err != nil {
			continue
		}
		err = fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || ctx.Err() != nil {
				return errors.Join(err, context.Cause(ctx))
			}
			if entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir // .git of a replaced library
			}
			if !entry.IsDir() && strings.HasSuffix(name, ".star") {
				m.collect(fsys, lib.Name, name, st, found)
			}
			return nil
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			m.report("library @%s cannot be searched for libraries that it needs: %v", lib.Name, err)
		}
	}
	return missingError(m.path(ProjectFile), found)
}

// collect adds the unlisted libraries that a file loads to found.
func (m *Manager) collect(fsys fs.FS, lib, name string, st *state, found map[string]string) {
	source, err := fs.ReadFile(fsys, name)
	if err != nil {
		return
	}
	label := "@" + lib + "//" + name
	needs, err := m.Loads(label, source)
	if err != nil {
		return // reported when the file is loaded
	}
	for _, n := range needs {
		if _, listed := st.project.Find(n.Name); !listed && n.Name != lib && found[n.Name] == "" {
			found[n.Name] = fmt.Sprintf("%s:%d", label, n.Line)
		}
	}
}

func missingError(file string, found map[string]string) error {
	if len(found) == 0 {
		return nil
	}
	var needs []string
	for name, location := range found {
		needs = append(needs, fmt.Sprintf("@%s for %s", name, location))
	}
	slices.Sort(needs)
	return fmt.Errorf("%s lacks libraries that others load: %s (nothing is fetched automatically: run `torchx lib add NAME URL` for each)", file, strings.Join(needs, ", "))
}

// Status is the state of one library.
type Status struct {
	Library
	Commit   string // "" if not locked, or for a folder
	Files    int
	Replaced string // the folder that replaces it, or ""
	Vendored bool
	// Problem is the reason why the library cannot be loaded, in one line; "" if none is
	// known. Contents are not read: Verify does that.
	Problem string
}

// List returns the state of each library, in the order of the project's file.
func (m *Manager) List() ([]Status, error) {
	st, err := m.state()
	if err != nil || st.project == nil {
		return nil, err
	}
	var list []Status
	for _, lib := range st.project.Libraries {
		s := Status{Library: lib, Vendored: isVendored(m.Root, lib.Name)}
		if r, ok := st.project.Replacement(lib.Name); ok {
			s.Replaced = r.Folder
		}
		k, err := st.locked(lib)
		if err != nil {
			s.Problem = err.Error()
		} else {
			s.Commit, s.Files = k.Commit, len(k.Files)
			s.Problem = m.missingFile(k, s.Vendored)
		}
		if s.Replaced != "" {
			s.Problem = ""
			if _, err := os.Stat(folderOf(m.Root, s.Replaced)); err != nil {
				s.Problem = fmt.Sprintf("the folder %s cannot be opened: %v",
					s.Replaced, pathCause(err))
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// missingFile describes a missing file of a library that is neither vendored nor replaced.
func (m *Manager) missingFile(k *Locked, vendored bool) string {
	if vendored {
		return ""
	}
	for _, f := range k.Files {
		path := m.Cache.path(f.Sum)
		if k.Folder != "" {
			path = filepath.Join(folderOf(m.Root, k.Folder), filepath.FromSlash(f.Name))
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			continue
		}
		if k.Folder != "" {
			return fmt.Sprintf("%s is gone from %s", f.Name, k.Folder)
		}
		return "it is not fetched yet: run `torchx lib sync`"
	}
	return ""
}

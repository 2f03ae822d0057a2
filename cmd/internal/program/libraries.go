package program

import (
	"io/fs"
	"path/filepath"

	"torchx/runtime/history"
	"torchx/runtime/library"
	"torchx/runtime/library/git"
	"torchx/starlark/interp"
)

// libraryCache is the folder of library contents below TORCHX_HOME.
const libraryCache = "libs"

// LibraryManager returns a manager of the project's libraries.
func (f *Factory) LibraryManager(home string) *library.Manager {
	return &library.Manager{
		Root: f.ProjectRoot(), Dir: f.Env.Dir,
		Cache:  &library.Cache{Dir: filepath.Join(home, libraryCache)},
		Git:    &git.Client{Env: f.Env.Vars, Offline: f.offline},
		Loads:  libraryLoads,
		Report: func(text string) { f.Say("%s", text) },
	}
}

// libraryLoads returns the libraries that a file loads.
func libraryLoads(name string, source []byte) ([]library.Need, error) {
	loads, err := interp.Loads(name, source)
	var needs []library.Need
	for _, l := range loads {
		if lib := interp.LibraryOf(l.Label); lib != "" {
			needs = append(needs, library.Need{Name: lib, Line: l.Line})
		}
	}
	return needs, err
}

// OpenLibraries returns the libraries for components. It reads nothing from disk until the
// first library is opened.
func (f *Factory) OpenLibraries() *library.Set {
	home, err := f.Env.Home()
	if err != nil {
		home = "" // the cache is unreadable then, and vendored libraries need no cache
	}
	return &library.Set{Cache: &library.Cache{Dir: filepath.Join(home, libraryCache)}, Dir: f.Env.Dir}
}

// LockedLibraries returns the versions in the project's torchx.lock; none if it cannot be read.
func (f *Factory) LockedLibraries() []history.Library {
	lock, err := library.ReadLock(f.ProjectRoot(), "")
	if err != nil {
		return nil // what loads the libraries reports it
	}
	var list []history.Library
	for _, l := range lock.Libraries {
		list = append(list, history.Library{Name: l.Name, Revision: l.Revision, Commit: l.Commit})
	}
	return list
}

// ReadModule returns the current content of a library's file; top is the root of the
// project that loads the library.
func (f *Factory) ReadModule(top, library, name string) ([]byte, error) {
	fsys, err := f.OpenLibraries().Open(top, library)
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(fsys, name)
}

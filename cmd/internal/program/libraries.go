package program

import (
	"io/fs"
	"path/filepath"

	"torchx/runtime/library"
	"torchx/runtime/library/git"
	"torchx/starlark/interp"
)

// libraryCache is where contents of libraries are within TORCHX_HOME.
const libraryCache = "libs"

// LibraryManager changes the libraries of the project.
func (f *Factory) LibraryManager(home string) *library.Manager {
	return &library.Manager{
		Root: f.ProjectRoot(), Dir: f.Env.Dir,
		Cache:  &library.Cache{Dir: filepath.Join(home, libraryCache)},
		Git:    &git.Client{Env: f.Env.Vars, Offline: f.offline},
		Loads:  libraryLoads,
		Report: func(text string) { f.Say("%s", text) },
	}
}

// libraryLoads lists the libraries that a file loads.
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

// OpenLibraries opens libraries for components. Nothing of the disk is looked at
// before the first one is asked for.
func (f *Factory) OpenLibraries() *library.Set {
	home, err := f.Env.Home()
	if err != nil {
		home = "" // there is nothing to read then, and vendored libraries need no cache
	}
	return &library.Set{Cache: &library.Cache{Dir: filepath.Join(home, libraryCache)}, Dir: f.Env.Dir}
}

// ReadModule returns the content that a library's file has now; top is the root of
// the project that it was loaded for.
func (f *Factory) ReadModule(top, library, name string) ([]byte, error) {
	fsys, err := f.OpenLibraries().Open(top, library)
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(fsys, name)
}

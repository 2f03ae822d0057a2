package main

import (
	"io/fs"
	"path/filepath"

	"torchx/runtime/library"
	"torchx/runtime/library/git"
	"torchx/starlark/interp"
)

// libraryCache is where contents of libraries are within TORCHX_HOME.
const libraryCache = "libs"

// projectRoot is the root of the project that the working folder is in.
func (t *tool) projectRoot() string {
	return interp.WorkspaceRoot(filepath.Join(t.env.dir, "_"))
}

// libraryManager changes the libraries of the project.
func (t *tool) libraryManager(home string) *library.Manager {
	return &library.Manager{
		Root: t.projectRoot(), Dir: t.env.dir,
		Cache: &library.Cache{Dir: filepath.Join(home, libraryCache)},
		Git:   &git.Client{Env: t.env.vars, Offline: t.offline},
		Loads: libraryLoads,
		Say:   func(text string) { t.say("%s", text) },
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

// openLibraries opens libraries for components. Nothing of the disk is looked at
// before the first one is asked for.
func (t *tool) openLibraries() *library.Set {
	home, err := t.env.home()
	if err != nil {
		home = "" // there is nothing to read then, and vendored libraries need no cache
	}
	return &library.Set{Cache: &library.Cache{Dir: filepath.Join(home, libraryCache)}, Dir: t.env.dir}
}

// readModule returns the content that a library's file has now; top is the root of
// the project that it was loaded for.
func (t *tool) readModule(top, library, name string) ([]byte, error) {
	fsys, err := t.openLibraries().Open(top, library)
	if err != nil {
		return nil, err
	}
	return fs.ReadFile(fsys, name)
}

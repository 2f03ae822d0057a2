// Package library keeps the component libraries of a project: which there are, at
// which commit, with which files, and where their content is.
//
// Three things of a project say it all; they belong into version control:
//
//	torchx.libs     what the project wants, written by people (see Project)
//	torchx.lock     what it got: commit and SHA-256 of every file (see Lock)
//	torchx.vendor/  the files themselves, if the project keeps them (optional)
//
// Files of libraries come from a cache that is addressed by content (see Cache),
// or from torchx.vendor, or from a folder of this machine. Whatever is read is
// compared with the lock first (Set.Open); only what a `replace` line names is
// read as it is. Nothing here evaluates anything, and only a Manager fetches.
//
// Names, URLs, revisions and paths come from strangers: those that could be taken
// for an option of a command, leave a folder or drive a terminal are refused where
// they enter (checks.go). Errors are one line, FILE:LINE: first where there is one.
package library

// What the files and folders of a project are called.
const (
	ProjectFile = "torchx.libs"
	LockFile    = "torchx.lock"
	VendorDir   = "torchx.vendor"
)

// Limits of one library. A Starlark file may be as large as the interpreter reads;
// the others leave room for documents and pictures, and none for data sets.
const (
	MaxStarlarkFile = 1 << 20   // bytes
	MaxFile         = 16 << 20  // bytes
	MaxTotal        = 256 << 20 // bytes
	MaxFiles        = 20_000
)

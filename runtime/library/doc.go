// Package library manages the component libraries of a project: their sources, locked commits
// and files.
//
// Three files of a project describe everything; they belong into version control:
//
//	torchx.libs     the wanted libraries, edited by users (see Project)
//	torchx.lock     their commits and the SHA-256 of every file (see Lock)
//	torchx.vendor/  the files themselves, if the project stores them (optional)
//
// Files of libraries come from a content-addressed cache (see Cache), from torchx.vendor, or
// from a folder of this machine. Every file is compared with the lock when it is read
// (Set.Open); only folders named by `replace` lines are read unchecked. The package evaluates
// no components, and only a Manager fetches.
//
// Names, URLs, revisions and paths are untrusted input: checks.go rejects those that could be
// taken for an option of a command, leave a folder or control a terminal. Errors are one line,
// with FILE:LINE: first if possible.
package library

// Names of the files and folders of a project.
const (
	ProjectFile = "torchx.libs"
	LockFile    = "torchx.lock"
	VendorDir   = "torchx.vendor"
)

// Limits of one library. A Starlark file may be as large as the interpreter accepts; the other
// limits allow documents and pictures, but not data sets.
const (
	MaxStarlarkFile = 1 << 20   // bytes
	MaxFile         = 16 << 20  // bytes
	MaxTotal        = 256 << 20 // bytes
	MaxFiles        = 20_000
)

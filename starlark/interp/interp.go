// Package interp loads and runs Starlark files safely inside this process.
//
// Loading: a file is evaluated once per Interp, its values are frozen, and
// load() can only reach files below three kinds of roots: the workspace of the
// component file, the built-in library and locked libraries (see Config).
//
// Limits: an evaluation is stopped when it takes too many steps, too much time or
// too much memory of the process. The Starlark engine can only be stopped
// between its steps, and some single steps can run for hours or take all
// memory (list(range(1 << 40)), "x" * (1 << 30)). Three layers prevent this:
//
//   - the syntax tree is rewritten before it is compiled, so that operators and
//     methods that can grow a value call a guard first (rewrite.go, operators.go);
//   - predeclared functions that iterate or build values are replaced by guarded ones
//     of the same name (calls.go);
//   - a watchdog checks the clock and the heap while an evaluation runs
//     (run.go). If the engine does not react, Config.Fatal exits the process,
//     which is safe because evaluation has no side effects.
//
// Every failure is an *Error of one line, "file:line:col: message", with the
// backtrace in its Detail.
package interp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"go.starlark.net/starlark"
)

// Defaults of Config. The time is below half of the 10 s within which a command
// must answer, since a component is first loaded and then called. A step is one
// instruction of the engine; an ordinary component takes some thousands. A value
// cannot be nested deeper than the number of steps, which keeps the engine's
// recursion (at most 600 bytes of stack a level) inside Go's stack limit. The heap
// leaves room for the garbage collector below 2 GiB of resident memory.
const (
	DefaultMaxSteps = 1_000_000
	DefaultTimeout  = 4 * time.Second
	DefaultMaxHeap  = 768 << 20 // bytes
)

// Config says which files an Interp reads, and the limits of evaluations.
type Config struct {
	// Dir is the folder that relative paths, also in messages, are relative to; "" means the
	// working directory.
	Dir string
	// Builtins holds the built-in files: "@torchx//dist.star" is its "dist.star".
	Builtins fs.FS
	// Library returns the files of "@name//…" for everything loaded in the workspace with that
	// root; nil means no libraries. The file system must not give access to files outside it, as
	// with os.Root.FS. For an unknown name the error is an fs.ErrNotExist.
	Library func(root, name string) (fs.FS, error)
	// Predeclared are the names that every file sees: frozen values, and functions that limit their
	// own use of time and memory.
	Predeclared starlark.StringDict
	// MaxSteps bounds each LoadFile, LoadBuiltin or Call; 0 means DefaultMaxSteps.
	MaxSteps uint64
	// Timeout bounds each LoadFile, LoadBuiltin or Call; 0 means DefaultTimeout.
	Timeout time.Duration
	// MaxHeap bounds the heap of the whole process during an evaluation, in bytes, including
	// uncollected garbage; 0 means DefaultMaxHeap.
	MaxHeap uint64
	// Print receives the text of each print(); nil drops it.
	Print func(msg string)
	// Cover reports whether to count the statements of the file at an absolute path (see Coverage);
	// nil counts none. Counting takes steps.
	Cover func(path string) bool
	// Fatal must print the error and exit the process. It is called when the engine ignores a limit
	// for 200 ms; if it is nil, the evaluation continues.
	Fatal func(err error)
}

// Interp evaluates Starlark files. It is safe for concurrent use: files load one at a time, calls
// run in parallel.
type Interp struct {
	cfg         Config
	dir         string // Config.Dir as an absolute path
	predeclared starlark.StringDict
	builtins    *tree

	loading sync.Mutex // held while a file and the files that it loads are loaded
	mu      sync.Mutex // guards the maps
	modules map[string]*Module
	sources map[string][]byte // by the name shown in positions

	libraries map[libraryKey]*tree // the open ones
	covered   map[string]*counters // by the absolute path of the file
}

// Module is an evaluated file. It is immutable.
type Module struct {
	Label   string              // "//dir/x.star", "@torchx//dist.star", "@lib//x.star"
	Path    string              // absolute path; "" for a built-in or library file
	Globals starlark.StringDict // frozen
	Source  []byte

	name string // the file's name in positions
}

// ModuleHash names one evaluated file and its content.
type ModuleHash struct {
	Label  string `json:"label"`  // as in load()
	Path   string `json:"path"`   // on disk, "" for a built-in or library file
	SHA256 string `json:"sha256"` // of its bytes, in hexadecimal
}

// New returns an Interp that has loaded nothing.
func New(c Config) *Interp {
	if c.MaxSteps == 0 {
		c.MaxSteps = DefaultMaxSteps
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MaxHeap == 0 {
		c.MaxHeap = DefaultMaxHeap
	}
	i := &Interp{
		cfg: c, dir: absFrom("", cmp.Or(c.Dir, ".")), predeclared: environment(c.Predeclared),
		modules: map[string]*Module{}, sources: map[string][]byte{},
		libraries: map[libraryKey]*tree{}, covered: map[string]*counters{},
	}
	if c.Builtins != nil {
		i.builtins = &tree{prefix: builtinPrefix, fsys: c.Builtins}
	}
	return i
}

// LoadFile evaluates the file at path, unless it is already loaded. path may be relative to
// Config.Dir.
func (i *Interp) LoadFile(ctx context.Context, path string) (*Module, error) {
	if path == "" {
		return nil, &Error{Msg: "the path is empty; give the path of a .star file"}
	}
	source, err := i.SourceOf(path)
	if err != nil {
		cause := errors.Unwrap(err)
		return nil, &Error{File: path, Msg: cause.Error(), cause: cause}
	}
	return i.load(ctx, source)
}

// LoadBuiltin evaluates a file of Config.Builtins, for example "dist.star".
func (i *Interp) LoadBuiltin(ctx context.Context, name string) (*Module, error) {
	if i.builtins == nil || !fs.ValidPath(name) {
		err := fmt.Errorf("no built-in file: %w", fs.ErrNotExist)
		return nil, &Error{File: builtinPrefix + "//" + name, Msg: err.Error(), cause: err}
	}
	return i.load(ctx, &Source{i.builtins, name})
}

func (i *Interp) load(ctx context.Context, at *Source) (*Module, error) {
	i.loading.Lock()
	defer i.loading.Unlock()
	var m *Module
	err := i.run(ctx, at.Display(), func(r *run) (err error) {
		m, err = r.load(at)
		return err
	})
	return m, err
}

// Call calls fn, a function of a loaded module, under the limits of i.
func (i *Interp) Call(
	ctx context.Context, fn starlark.Callable, args starlark.Tuple, kwargs []starlark.Tuple,
) (starlark.Value, error) {
	var result starlark.Value
	err := i.CallFor(ctx, fn, args, kwargs, func(v starlark.Value) error {
		result = v
		return nil
	})
	return result, err
}

// CallFor calls fn like Call and passes the result to use, under the same limits. Config.Fatal ends
// a use that takes too long.
func (i *Interp) CallFor(ctx context.Context, fn starlark.Callable, args starlark.Tuple,
	kwargs []starlark.Tuple, use func(starlark.Value) error,
) error {
	return i.run(ctx, fn.Name(), func(r *run) error {
		v, err := starlark.Call(r.thread, fn, args, kwargs)
		if err != nil {
			return err
		}
		if err := r.checkResult(fn, v); err != nil {
			return err
		}
		return use(v)
	})
}

// checkResult returns an error for a result that is too large to walk.
func (r *run) checkResult(fn starlark.Callable, v starlark.Value) error {
	err := walk(v, 0, shapeLimit())
	if limit := new(LimitError); errors.As(err, &limit) {
		limit.Msg = "the result of " + fn.Name() + " " + limit.Msg
		if f, ok := fn.(*starlark.Function); ok {
			limit.At = f.Position().String()
		}
	}
	return err
}

// Modules lists all evaluated files, sorted by label, then path.
func (i *Interp) Modules() []ModuleHash {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := make([]ModuleHash, 0, len(i.modules))
	for _, m := range i.modules {
		list = append(list, ModuleHash{m.Label, m.Path, fmt.Sprintf("%x", sha256.Sum256(m.Source))})
	}
	slices.SortFunc(list, func(a, b ModuleHash) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Path, b.Path))
	})
	return list
}

// Package startest runs the tests of component files: functions test_…(t) of
// files called …_test.star.
//
//	files ─► Runner (worker process) ─► Message … ─► Supervise ─► the command
//	           load once, call in parallel
//
// A test file is evaluated once, and what it loads is shared by all tests, which
// get a value t with assertions (t.go) and run side by side. Tests see nothing of
// the machine but the files they load and their golden files: torchx.getenv finds
// only what t.setenv has set.
//
// The engine can be stopped between its steps only, so tests run in a process of
// their own (Work), which ends itself when one step does not end; Supervise then
// starts another for the tests that are left.
package startest

import (
	_ "embed"
	"io/fs"
	"strings"
	"time"

	"torchx/runtime/spec"
	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
)

// Status is how a test ended.
type Status string

// The statuses, in the words of `go test -json`.
const (
	Pass Status = "pass"
	Fail Status = "fail"
	Skip Status = "skip"
)

// Result is the result of one test.
type Result struct {
	Name    string  `json:"name"` // "test_x", of a subtest "test_x/name"
	Status  Status  `json:"status"`
	Seconds float64 `json:"seconds"`
	Line    int     `json:"line,omitempty"` // where its function begins; 0 for subtests
	// Output holds what it logged, printed and failed with, in order. An element may have several
	// lines.
	Output []string `json:"output,omitempty"`
	Subs   []Result `json:"subs,omitempty"`
	// Wrote names golden files that were written, relative to the test file.
	Wrote []string `json:"wrote,omitempty"`

	// hitSharedLimit: a limit of the whole process was exceeded, perhaps because of another test.
	hitSharedLimit bool
}

// FileResult is the result of a file, when all its tests have ended.
type FileResult struct {
	Status  Status  `json:"status"` // Fail if a test failed, or the file could not be loaded
	Seconds float64 `json:"seconds"`
	// Problem is why the file could not be loaded, or ""; Detail may show the place in the source.
	Problem string `json:"problem,omitempty"`
	Detail  string `json:"detail,omitempty"`
	Tests   int    `json:"tests"` // that were run or skipped, subtests not counted
}

// Message is a report of a worker about a file. Exactly one pointer is set, none for coverage.
type Message struct {
	File string      `json:"file"` // as it was named
	Test *Result     `json:"test,omitempty"`
	Done *FileResult `json:"done,omitempty"`
	// Started names a test that begins; only careful workers report it.
	Started string `json:"started,omitempty"`
	// Stuck: Test, or the loading of File, could not be stopped, and the worker ends.
	Stuck bool `json:"stuck,omitempty"`
	// Coverage comes at the end of a worker.
	Coverage []interp.FileCoverage `json:"coverage,omitempty"`
}

// Options are the settings of a worker.
type Options struct {
	Run      string        `json:"run,omitempty"`  // only tests that match, as `go test -run`
	Skip     string        `json:"skip,omitempty"` // tests to leave out
	Update   bool          `json:"update,omitempty"`
	Cover    bool          `json:"cover,omitempty"`
	FailFast bool          `json:"fail_fast,omitempty"`
	Parallel int           `json:"parallel,omitempty"` // tests at once; 0: one for each processor
	Timeout  time.Duration `json:"timeout,omitempty"`  // of one test; 0: interp.DefaultTimeout
	// MaxHeap is the heap limit of the worker in bytes; 0: interp.DefaultMaxHeap.
	MaxHeap uint64 `json:"max_heap,omitempty"`
	// Careful workers run one test at a time and report its start.
	Careful bool `json:"careful,omitempty"`
}

// Host connects tests to the program. It is the same on every machine, so that golden files are
// too.
type Host struct {
	Dir      string // absolute; names of files start there
	Builtins fs.FS
	Library  func(root, name string) (fs.FS, error)
	// Image and Version are torchx.IMAGE and torchx.version.
	Image, Version string
	// Resources are named resources beside the built-in ones.
	Resources []specmodule.NamedResource
	// Plan returns the backend's request for the app as JSON; nil: tests cannot plan.
	Plan func(app *spec.App, backend string, cfg map[string]string) ([]byte, error)
}

// Task is a file with tests to run.
type Task struct {
	File string   `json:"file"`
	Done []string `json:"done,omitempty"` // tests that have their result already
}

//go:embed docs.txt
var docs string

// Docs returns the documentation of the attributes of t by name.
func Docs() map[string]specmodule.Doc {
	all := map[string]specmodule.Doc{}
	for name, d := range specmodule.ParseDocs(docs) {
		all[strings.TrimPrefix(name, "t.")] = d
	}
	return all
}

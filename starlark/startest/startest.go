// Package startest runs the tests of component files: functions test_…(t) of
// files called …_test.star.
//
//	files ─► Runner (worker process) ─► Message … ─► Supervise ─► the command
//	           load once, call in parallel
//
// A test file is evaluated once, and the files that it loads are shared by all tests,
// which get a value t with assertions (t.go) and run in parallel. Tests cannot see
// anything of the machine except the files they load and their golden files:
// torchx.getenv finds only variables that t.setenv has set.
//
// The engine can only be stopped between its steps, so tests run in a separate
// process (Work), which exits if a step does not end; Supervise then starts another
// process for the remaining tests.
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

// Status is the outcome of a test.
type Status string

// The statuses, as in `go test -json`.
const (
	Pass Status = "pass"
	Fail Status = "fail"
	Skip Status = "skip"
)

// Result is the result of one test.
type Result struct {
	Name    string  `json:"name"` // "test_x", for a subtest "test_x/name"
	Status  Status  `json:"status"`
	Seconds float64 `json:"seconds"`
	Line    int     `json:"line,omitempty"` // line of the function; 0 for subtests
	// Output holds what the test logged and printed, and its failures, in order. An element may
	// have several lines.
	Output []string `json:"output,omitempty"`
	Subs   []Result `json:"subs,omitempty"`
	// Wrote lists written golden files, relative to the test file.
	Wrote []string `json:"wrote,omitempty"`

	// hitSharedLimit says that a limit of the whole process was exceeded, perhaps by another test.
	hitSharedLimit bool
}

// FileResult is the result of a file after all its tests have ended.
type FileResult struct {
	Status  Status  `json:"status"` // Fail if a test failed, or the file could not be loaded
	Seconds float64 `json:"seconds"`
	// Problem is why the file could not be loaded, or ""; Detail may show the position in the
	// source.
	Problem string `json:"problem,omitempty"`
	Detail  string `json:"detail,omitempty"`
	Tests   int    `json:"tests"` // run or skipped tests, without subtests
}

// Message is a worker's report about a file. Exactly one pointer is set, none for coverage.
type Message struct {
	File string      `json:"file"` // as named in the task
	Test *Result     `json:"test,omitempty"`
	Done *FileResult `json:"done,omitempty"`
	// Started is the name of a test that begins; only careful workers report it.
	Started string `json:"started,omitempty"`
	// Stuck says that Test, or the loading of File, could not be stopped, and that the worker
	// exits.
	Stuck bool `json:"stuck,omitempty"`
	// Coverage is sent at the end of a worker.
	Coverage []interp.FileCoverage `json:"coverage,omitempty"`
}

// Options are the options of a worker.
type Options struct {
	Run      string        `json:"run,omitempty"`  // only tests that match, like `go test -run`
	Skip     string        `json:"skip,omitempty"` // tests to skip
	Update   bool          `json:"update,omitempty"`
	Cover    bool          `json:"cover,omitempty"`
	FailFast bool          `json:"fail_fast,omitempty"`
	Parallel int           `json:"parallel,omitempty"` // number of parallel tests; 0 means one per processor
	Timeout  time.Duration `json:"timeout,omitempty"`  // of one test; 0 means interp.DefaultTimeout
	// MaxHeap is the heap limit of the worker in bytes; 0 means interp.DefaultMaxHeap.
	MaxHeap uint64 `json:"max_heap,omitempty"`
	// Careful workers run one test at a time and report its start.
	Careful bool `json:"careful,omitempty"`
}

// Host connects tests to the program. It is the same on every machine, so that golden files are the
// same too.
type Host struct {
	Dir      string // absolute; file names are relative to it
	Builtins fs.FS
	Library  func(root, name string) (fs.FS, error)
	// Image and Version are torchx.IMAGE and torchx.version.
	Image, Version string
	// Resources are named resources in addition to the built-in ones.
	Resources []specmodule.NamedResource
	// Plan returns the backend's request for the app as JSON; nil means that tests cannot plan.
	Plan func(app *spec.App, backend string, cfg map[string]string) ([]byte, error)
}

// Task is a file with tests to run.
type Task struct {
	File string   `json:"file"`
	Done []string `json:"done,omitempty"` // tests that already have a result
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

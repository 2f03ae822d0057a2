package backend

import (
	"encoding/json"

	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// PlanInput is the input of Backend.Plan.
type PlanInput struct {
	ID           string    // app ID within the backend
	App          *spec.App // not changed
	Cfg          Config    // resolved: each option with its value or nil
	Cwd          string    // absolute working folder of the command
	DefaultImage string    // torchx.IMAGE: the image of components without one

	// Workspace is the folder to be copied into the image of the first role, unless the
	// role has its own workspace; "" means none. WorkspaceWhy tells how it was found: a few
	// words that follow the folder, or a whole line why there is none. It is "" if the
	// user chose the workspace.
	Workspace    string
	WorkspaceWhy string
	Environ      []string // environment of the command, "K=V"; nil: this process's
	NewTimeout   bool     // for Load: the app has another time limit than the request was planned with
	Progress     Progress // receives steps of slow work in planning and Submit

	Sweep *sweep.Plan // what a TrialRunner runs; nil: not a sweep
}

// Plan is what Submit would do.
type Plan struct {
	ID       string
	App      *spec.App
	Cfg      Config
	Request  any      // the backend's type; its JSON form is `request` in `run --dryrun --json`
	Warnings []string // one line each, for stderr
	Notes    []string // one line each, for stderr: defaults that were chosen

	// DecidedAtSubmit lists decisions that depend on an answer of the backend, one line
	// each. Only a dry run shows them; the printed plan omits them.
	DecidedAtSubmit []string

	Launch
	Origin
}

// Launch holds how a plan is started. The printed plan omits it.
type Launch struct {
	// Begin starts in advance what Submit waits for, such as the supervisor, while the app is
	// recorded. It returns what ends it if Submit has not taken it. nil: nothing.
	Begin    func() (end func())
	Progress Progress      // receives steps of slow work in Submit
	Environ  []string      // environment of replicas, "K=V"; nil: this process's
	Queue    bool          // start only when resources are free; needs Placement.Queues
	After    []After       // start when these have ended; needs Placement.After
	OnEnd    *OnEnd        // nil: nothing to do at the end
	TTY      *TerminalSize // run on a pseudo-terminal of this size; needs Access.Terminal
}

// Origin holds what a plan was created from. The printed plan omits it.
type Origin struct {
	Component string // "" if the app has no component; for Reports.Submissions
	Args      []string

	// Record holds further data of the history's record, as opaque JSON. Unrecorded means
	// that the history is not writable. Both are for a HistoryRestorer.
	Record     json.RawMessage
	Unrecorded bool
}

// ManifestLister is a Plan.Request that consists of manifests for another program: a dry run
// prints each as a YAML document.
type ManifestLister interface {
	// Manifests returns the documents in the order in which they are applied.
	Manifests() []any
}

// StartError means that a planned app did not start. Code is the exit code of `torchx run`:
// spec.ExitNotFound, ExitNotExecutable or ExitNotStarted.
type StartError struct {
	Code int
	Err  error
}

func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// Step reports slow work before an app starts: pulling an image, building or pushing a
// workspace. It is for display only, and may be lost.
type Step struct {
	Name   string // one line such as "pull alpine:3.20"; identifies the step
	Text   string // the current activity, one line; "" if unchanged
	Done   int64  // bytes
	Total  int64  // bytes; 0: unknown
	Output string // a line of output without its newline; it stays on the screen
	Ended  bool   // the step has ended
	Failed bool   // with Ended: the step failed; an error tells why

	// Warning is a line for the user from Submit, like Plan.Warnings from planning. If it
	// is set, all other fields are ignored.
	Warning string
}

// Progress receives steps. It must return quickly and is called from several goroutines; nil
// drops them.
type Progress func(Step)

// Tell calls p unless it is nil.
func (p Progress) Tell(s Step) {
	if p != nil {
		p(s)
	}
}

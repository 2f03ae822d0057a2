package backend

import (
	"encoding/json"

	"torchx/runtime/spec"
)

// PlanInput is what a plan is made from.
type PlanInput struct {
	ID           string    // app id within the backend
	App          *spec.App // not changed
	Cfg          Config    // resolved: every option has its value or nil
	Cwd          string    // absolute folder the command runs in
	DefaultImage string    // torchx.IMAGE: the image of components that name none

	// Workspace is the folder that goes into the image of the first role if the role has
	// no workspace of its own; "" is none. WorkspaceWhy says how it was found: a few
	// words that follow the folder, or a whole line why there is none. It is "" if the
	// user chose the workspace.
	Workspace    string
	WorkspaceWhy string
	Environ      []string // the environment of the command, "K=V"; nil: this process's own
	Progress     Progress // receives the steps of slow work, of planning and of Submit
}

// Plan is what Submit would do.
type Plan struct {
	ID       string
	App      *spec.App
	Cfg      Config
	Request  any      // the backend's own type; its JSON form is `run --dryrun --json`'s request
	Warnings []string // one line each, for stderr
	Notes    []string // one line each, for stderr: what was chosen where the user chose nothing

	// DecidedAtSubmit has what depends on an answer of the backend, one line each. Only
	// a dry run shows it; the printed plan leaves it out.
	DecidedAtSubmit []string

	Launch
	Origin
}

// Launch says how a plan is started. The printed plan leaves it out.
type Launch struct {
	Progress Progress      // receives the steps of slow work of Submit
	Environ  []string      // the environment of replicas, "K=V"; nil: this process's own
	Queue    bool          // start only when resources are free; for a Queuer
	TTY      *TerminalSize // run on a pseudo-terminal of that size; for a TerminalOpener
}

// Origin says what a plan was made from. The printed plan leaves it out.
type Origin struct {
	Component string // "" if the app was not made by a component; for a SubmissionReader
	Args      []string

	// Record is what the history has of the app besides the plan, as opaque JSON.
	// Unrecorded is set if the history is not writable. Both are for a HistoryRestorer.
	Record     json.RawMessage
	Unrecorded bool
}

// ManifestLister is a Plan.Request that consists of manifests for another program: a
// dry run prints each as a YAML document.
type ManifestLister interface {
	// Manifests returns the documents in the order in which they are applied.
	Manifests() []any
}

// StartError says that a planned app did not start. Code is what `torchx run` exits
// with: spec.ExitNotFound, ExitNotExecutable or ExitNotStarted.
type StartError struct {
	Code int
	Err  error
}

func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

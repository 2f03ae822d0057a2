// Package backend is the contract between the runner and the places where an
// app can run: the Backend interface, its options, its errors and the registry.
// Implementations live in package backends/NAME and never import one another.
package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"torchx/runtime/spec"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrNotFound      = errors.New("not found")
	ErrExists        = errors.New("already exists")
	ErrUnavailable   = errors.New("backend unavailable")
	ErrUnsupported   = errors.New("unsupported")
	ErrInvalidOption = errors.New("invalid option")
	ErrInvalidPlan   = errors.New("invalid request")
)

// Errorf returns an error with a text of its own that errors.Is finds to be class:
// unlike with %w, the words of the class are not a part of the text.
func Errorf(class error, format string, args ...any) error {
	return &classified{fmt.Errorf(format, args...), class}
}

type classified struct{ err, class error }

func (e *classified) Error() string   { return e.err.Error() }
func (e *classified) Unwrap() []error { return []error{e.err, e.class} }

// Backend runs apps in one place. Methods may be called from several goroutines.
type Backend interface {
	// Name is the canonical name, the scheme of the app's handle.
	Name() string
	// Options lists the -cfg keys.
	Options() []Option
	// Plan works out what Submit would do and changes, reserves and contacts
	// nothing. Errors: ErrInvalidOption, or a plain one that names what is wrong in the app.
	Plan(ctx context.Context, in PlanInput) (*Plan, error)
	// Load rebuilds a plan from the JSON forms of its parts, edited or not, and
	// validates it. Errors: ErrInvalidPlan.
	Load(ctx context.Context, in PlanInput, request json.RawMessage) (*Plan, error)
	// Submit starts the plan and returns after the first start of all replicas.
	// Errors: ErrExists if p.ID is taken, ErrUnavailable, *StartError.
	Submit(ctx context.Context, p *Plan) error
	// Describe reports the state of an app. Errors: ErrNotFound, ErrUnavailable.
	Describe(ctx context.Context, id string) (*spec.Status, error)
	// List reports every app the backend itself knows. Errors: ErrUnavailable.
	List(ctx context.Context) ([]spec.Summary, error)
	// Cancel asks for the end of an app and returns when the request is durable,
	// before the end. An unknown or finished app, or a second call, does nothing.
	Cancel(ctx context.Context, id string, o CancelOptions) error
	// Delete removes everything of a finished app. Errors: ErrNotFound.
	Delete(ctx context.Context, id string, o DeleteOptions) error
	// Logs opens the log of one replica. Errors: ErrNotFound (app, role, replica or attempt).
	Logs(ctx context.Context, id string, r spec.Replica, o LogOptions) (LogReader, error)
	// Close releases what the client holds; apps go on. It may be called twice.
	Close() error
}

// Waiter is a Backend that can wait without polling.
type Waiter interface {
	// Wait blocks until the app is terminal or ctx ends. Errors: ErrNotFound, ErrUnavailable.
	Wait(ctx context.Context, id string) (*spec.Status, error)
}

// Queuer is a Backend that knows what the machine under it has: an app whose plan
// says Queue waits until its resources fit beside the apps that run there. Submit
// returns when it is queued.
type Queuer interface {
	// Queues reports whether Plan.Queue is honoured.
	Queues() bool
}

// Prober is a Backend that can tell whether it is there; its error is
// ErrUnavailable and says how to fix it.
type Prober interface {
	Probe(ctx context.Context) error
}

// PlanInput is what a plan is made from.
type PlanInput struct {
	ID           string    // app id within the backend
	App          *spec.App // not changed
	Cfg          Config    // resolved: every option has its value or nil
	Cwd          string    // absolute folder the command runs in
	DefaultImage string    // torchx.IMAGE: an image nobody chose

	// Workspace is the folder that goes into the image of the first role if that has
	// no workspace of its own; "" is none. WorkspaceWhy says how that was found: a
	// few words to stand behind the folder, or a whole line why there is none; it is
	// "" where somebody chose.
	Workspace    string
	WorkspaceWhy string
	Environ      []string // the environment of the command, "K=V"; nil: this process's own
	Progress     Progress // told of slow work, here and at Submit
}

// Plan is what Submit would do.
type Plan struct {
	ID       string
	App      *spec.App
	Cfg      Config
	Request  any      // the backend's own type; its JSON form is `run --dryrun --json`'s request
	Warnings []string // one line each, for stderr
	Notes    []string // one line each, for stderr: what was chosen, where nobody said it

	// Unsettled is what Submit decides when it has asked, one line each: only a dry run
	// shows it. It is not a part of the printed plan.
	Unsettled []string

	// Progress is told of slow work of Submit. It is not a part of the printed plan.
	Progress Progress
	// Environ is the environment replicas start from, "K=V"; Submit takes the
	// process's own when it is nil. It is not a part of the printed plan.
	Environ []string

	// Queue asks a Queuer to start the app only when there is room for it.
	Queue bool

	// TTY, if set, runs the app on a pseudo-terminal of that size; it is for
	// Terminals, and not a part of the printed plan.
	TTY *TerminalSize

	// Component and Args say what the app was made from, for a Recorder; Component is
	// "" where that was no component.
	Component string
	Args      []string

	// Record is what the history has of the app beside the plan, as opaque JSON, and
	// Unrecorded says that the history could not take it; both are for a Rememberer.
	Record     json.RawMessage
	Unrecorded bool
}

// Manifests is a Plan.Request whose parts another program takes as YAML documents:
// a dry run prints them so, not as one.
type Manifests interface {
	// Manifests are the documents, in the order in which they are to be applied.
	Manifests() []any
}

// CancelOptions changes how an app is cancelled.
type CancelOptions struct {
	Force   bool // kill at once, without a grace period
	Discard bool // nobody wants its logs, as it is deleted next
}

// DeleteOptions changes what is deleted.
type DeleteOptions struct {
	KeepLogs bool
}

// StartError says that a planned app did not start: Code is what `torchx run`
// exits with (127 not found, 126 not executable, 125 anything else).
type StartError struct {
	Code int
	Err  error
}

func (e *StartError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// Stream selects what of a replica's output is read.
type Stream string

// The streams: Combined is both in the order they were written.
const (
	Combined Stream = "combined"
	Stdout   Stream = "stdout"
	Stderr   Stream = "stderr"
)

// Streams lists the valid streams.
var Streams = []Stream{Combined, Stdout, Stderr}

// LogOptions selects lines of one replica's log.
type LogOptions struct {
	Stream Stream // "" is Combined
	Follow bool   // go on until the app is terminal, across attempts
	// Attempt is the attempt to read, from 0; nil is the last one. With Follow
	// and nil, later attempts follow.
	Attempt *int
	// AllAttempts reads every attempt from the first on, or from Attempt on; lines
	// are then counted from the start of that attempt.
	AllAttempts bool
	Since       time.Time // inclusive; zero: no bound
	Until       time.Time // exclusive; zero: no bound
	FromLine    int64     // first line, from 1; 0: no bound
	ToLine      int64     // last line, inclusive; 0: no bound
	Tail        int64     // only the last Tail lines; < 0: no bound, 0 none
	// Partial, with Follow, hands out the beginning of a line that rests for a
	// moment (a progress bar, a prompt) instead of waiting for its end.
	Partial bool
	// Untimed says that nobody looks at Block.Time, which may cost a backend to find out.
	Untimed bool
}

// Block is a run of bytes of one stream that arrived together: whole lines,
// except that the last one lacks its newline if Partial is set, or at the end
// of a stream that ends without one.
type Block struct {
	Time    time.Time // when the (last) line's end arrived
	Stream  Stream    // Stdout or Stderr, Combined where the backend cannot tell
	Attempt int
	Data    []byte // valid until the next call of Next
	Partial bool   // the last line goes on in a later block of the same stream
	Notice  string // set instead of Data: what is missing here, such as "gap: rotated"
	Skipped int64  // lines (with an end) before this block that FromLine counts and that are gone
}

// LogReader hands out a replica's log in order.
type LogReader interface {
	// Next returns the next block; io.EOF after the last one. It waits only when following.
	Next(ctx context.Context) (Block, error)
	io.Closer
}

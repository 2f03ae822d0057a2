// Package backend is the contract between the runner and the places where an
// app can run: the Backend interface, its options, its errors and the registry.
// Implementations live in package backends/NAME and never import one another.
//
// The runner resolves Options into a Config, Backend.Plan turns an app and its Config
// into a Plan, and Backend.Submit starts that. Describe, Logs, Cancel and Delete address
// the app by its id.
//
// A Backend may implement more. The runner asks for these interfaces; without one,
// the command works as the last column says:
//
//	interface         the user gets                                   without it
//	Waiter            `wait` and `run` see a state at once            polling
//	LocalRunner       `run` stays with an app, `top` shows last lines   `run` returns
//	Queuer            `--queue`: start when resources are free        an error
//	TerminalOpener    `--tty` and `attach`                            an error
//	Prober            a reason why the backend is not there           nothing
//	Doctor            `doctor`: one check for each thing apps need    the Prober's answer
//	Sizer             sizes in `prune` and `delete`                   no sizes
//	LogRetainer       `delete --keep-logs`, logs of deleted apps      logs go with the app
//	LogFinder         logs of apps that were removed elsewhere        not found
//	Sweeper           every command ends what dead supervisors left   nothing
//	HistoryRestorer   a lost history is filled again                  it stays lost
//	SubmissionReader  `rerun` of apps that other machines submitted   not found
//	TargetResolver    an app is found after the context changed       the current context
//	TrustedFiler      a project's file runs no program unasked        options name no such files
//
// A Plan.Request may be a ManifestLister: `--dryrun` then prints YAML documents.
package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	ErrPartLeft      = errors.New("a part is left") // of an app that was refused: it may run
)

// Errorf returns an error with its own text that errors.Is reports to be class. Unlike
// with %w, the text does not contain that of the class.
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
	// Errors: ErrExists if p.ID is taken, ErrUnavailable, ErrPartLeft, *StartError.
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

// CancelOptions changes how an app is cancelled.
type CancelOptions struct {
	Force   bool // kill at once, without a grace period
	Discard bool // do not save its logs: it is deleted next
}

// DeleteOptions changes what is deleted.
type DeleteOptions struct {
	KeepLogs bool
}

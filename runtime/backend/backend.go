// Package backend is the contract between the runner and the backends that run apps: the
// Backend interface, its options, its errors and the registry. Implementations live in
// package backends/NAME and do not import one another.
//
// The runner resolves Options into a Config, Backend.Plan turns an app and its Config
// into a Plan, and Backend.Submit starts that. Describe, Logs, Cancel and Delete address
// the app by its ID.
//
// What a backend can do beyond that is in its Capabilities, one field each: a command uses a field
// that is set, and otherwise works as the comment of the field says.
//
// A Plan.Request may be a ManifestLister: `--dryrun` then prints YAML documents.
package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Errors that callers distinguish with errors.Is.
var (
	ErrNotFound      = errors.New("not found")
	ErrExists        = errors.New("already exists")
	ErrUnavailable   = errors.New("backend unavailable")
	ErrUnsupported   = errors.New("unsupported")
	ErrInvalidOption = errors.New("invalid option")
	ErrInvalidPlan   = errors.New("invalid request")
	ErrPartLeft      = errors.New("a part is left") // of an app whose start failed: it may run
	ErrQuotaExceeded = errors.New("no room")        // a quota is used up: the same plan may start later
	ErrNotRunning    = errors.New("not running")    // of a replica that has ended or not started
)

// Errorf returns an error with its own text that matches class in errors.Is. Unlike with %w,
// the text does not contain that of class.
func Errorf(class error, format string, args ...any) error {
	return &classified{fmt.Errorf(format, args...), class}
}

type classified struct{ err, class error }

func (e *classified) Error() string   { return e.err.Error() }
func (e *classified) Unwrap() []error { return []error{e.err, e.class} }

// View is an app in the list of a backend.
type View = history.View

// Backend runs apps on one kind of system. Its methods are safe for concurrent use.
type Backend interface {
	// Name returns the canonical name, the scheme of handles.
	Name() string
	// Capabilities returns what the backend can do beyond this interface, each time the same. It
	// opens and contacts nothing.
	Capabilities() Capabilities
	// Options returns the -cfg keys.
	Options() []Option
	// Plan determines what Submit would do. It changes, reserves and contacts nothing.
	// Errors: ErrInvalidOption, or one that describes a mistake in the app.
	Plan(ctx context.Context, in PlanInput) (*Plan, error)
	// Load restores a plan from the JSON forms of its parts, edited or not, and validates
	// it. Errors: ErrInvalidPlan.
	Load(ctx context.Context, in PlanInput, request json.RawMessage) (*Plan, error)
	// Submit starts the plan and returns after the first start of all replicas.
	// Errors: ErrExists if p.ID is taken, ErrUnavailable, ErrPartLeft, *StartError.
	Submit(ctx context.Context, p *Plan) error
	// Describe returns the status of an app. Errors: ErrNotFound, ErrUnavailable.
	Describe(ctx context.Context, id string) (*spec.Status, error)
	// Wait blocks until the app is terminal or ctx ends. Errors: ErrNotFound, ErrUnavailable.
	Wait(ctx context.Context, id string) (*spec.Status, error)
	// List returns all apps that the backend itself has, without its name, and with those details
	// that it knows at once. Errors: ErrUnavailable.
	List(ctx context.Context) ([]View, error)
	// Cancel requests the end of an app and returns once the request is durable. It does
	// nothing if the app is unknown, ending or has ended.
	Cancel(ctx context.Context, id string, o CancelOptions) error
	// Delete removes all data of an app that has ended. Errors: ErrNotFound.
	Delete(ctx context.Context, id string, o DeleteOptions) error
	// Logs opens the log of one replica. Errors: ErrNotFound (app, role, replica or attempt).
	Logs(ctx context.Context, id string, r spec.Replica, o LogOptions) (LogReader, error)
	// Close releases the client's resources; apps continue. Further calls do nothing.
	Close() error
}

// CancelOptions are the options of Cancel.
type CancelOptions struct {
	Force   bool // kill immediately, without a grace period
	Discard bool // do not save its logs, since it will be deleted
	Follow  bool // also save what it prints while it ends: the caller waits for its end
	Abandon bool // Wait gives up replicas that outlive their grace period because their machine is lost
	// Reason is what the status of the app says instead of "cancelled", one line. The first request
	// counts.
	Reason string
	// Failed makes the app end as FAILED with exit code 125 for the Reason, since it cannot start. A
	// backend whose apps start on this machine ignores it.
	Failed bool
}

// DeleteOptions are the options of Delete.
type DeleteOptions struct {
	KeepLogs bool
	Abandon  bool // as in CancelOptions, of what is left of an app that has ended
}

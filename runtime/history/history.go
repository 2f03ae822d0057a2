// Package history defines the records that torchx keeps of apps, and the interfaces through
// which the runner, agents and log archives access them. Package state implements Store with
// SQLite.
//
//	App          an app as submitted, and its last known outcome
//	Event        one change of an app or of a replica
//	Checkpoint   a position in a log, for seeking by time or line
//	Lease        a device that one replica uses exclusively
//	Tombstone    the record of a removed app
//
// The history is an index, not the source of truth: a backend knows the state of its live apps
// better. If a Store fails or is nil, callers continue with a warning.
package history

import (
	"context"
	"errors"

	"torchx/runtime/spec"
)

// Errors that callers distinguish with errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("already exists")
	ErrFull     = errors.New("no space left") // on the file system of the history
)

// MaxMatches bounds the results of FindPrefix and FindTombstones: enough to show that a prefix
// is ambiguous.
const MaxMatches = 20

// Store is a complete history.
type Store interface {
	Apps
	Removals
	Recorder
	Leaser
	Positions

	// ReadOnly reports whether all writes fail.
	ReadOnly() bool
	// Complete reports whether SetComplete was called on this history.
	Complete(ctx context.Context) (bool, error)
	// SetComplete records that the history has all apps known to backends.
	SetComplete(ctx context.Context) error
}

// Apps accesses the records of apps that have not been removed.
type Apps interface {
	// Insert records a new app and deletes a tombstone with its key. Errors: ErrExists.
	Insert(ctx context.Context, a App) error
	// Get returns one app. Errors: ErrNotFound.
	Get(ctx context.Context, backend, id string) (App, error)
	// Last returns the most recently recorded app that is neither a trial of a sweep nor Imported.
	// Errors: ErrNotFound if there is none.
	Last(ctx context.Context) (App, error)
	// FindPrefix returns up to MaxMatches apps by ID prefix, newest first; only exact
	// matches if there are any.
	FindPrefix(ctx context.Context, prefix string) ([]App, error)
	// List returns the selected apps in the order of f.
	List(ctx context.Context, f Filter) ([]App, error)
	// Walk calls visit for each app that List returns, and holds only one of them. visit must
	// not use the store. Walk returns visit's error.
	Walk(ctx context.Context, f Filter, visit func(*App) error) error
	// Count returns the number of apps that f selects, whatever its Limit and Offset.
	Count(ctx context.Context, f Filter) (int, error)
	// Known returns which of the IDs are recorded apps of a backend.
	Known(ctx context.Context, backend string, ids []string) (map[string]bool, error)
	// SetLabels changes an app's labels and returns them. Errors: ErrNotFound.
	SetLabels(ctx context.Context, backend, id string, c LabelChange) (Labels, error)
	// SetCheckout records the checkout of an app, and its diff by gzip; nil: none. Errors:
	// ErrNotFound.
	SetCheckout(ctx context.Context, backend, id string, c Checkout, diff []byte) error
	// Diff returns the diff of an app's checkout, by gzip. Errors: ErrNotFound if none is
	// stored.
	Diff(ctx context.Context, backend, id string) ([]byte, error)
	// Delete deletes an app and all of its records, without a tombstone. Errors: ErrNotFound.
	Delete(ctx context.Context, backend, id string) error

	// Status returns the last recorded status. Errors: ErrNotFound.
	Status(ctx context.Context, backend, id string) (*spec.Status, error)
	// AddEvents appends events. Errors: ErrNotFound.
	AddEvents(ctx context.Context, backend, id string, events []Event) error
	// Events returns an app's events, oldest first. Errors: ErrNotFound.
	Events(ctx context.Context, backend, id string) ([]Event, error)
}

// Recorder records observations of live apps.
type Recorder interface {
	// SetStatus records an observed status, with an event for each change. The result of
	// an app or attempt is final: later calls only add missing values. Errors: ErrNotFound.
	SetStatus(ctx context.Context, backend, id string, s *spec.Status) error
	// Reopen makes an app that has ended a running one again, without a result. Errors:
	// ErrNotFound.
	Reopen(ctx context.Context, backend, id string) error
	// PutCheckpoints adds or replaces log checkpoints. Errors: ErrNotFound.
	PutCheckpoints(ctx context.Context, backend, id string, points []Checkpoint) error
	// PutMetrics adds or replaces metrics. Errors: ErrNotFound.
	PutMetrics(ctx context.Context, backend, id string, all []Metric) error
}

// Removals accesses tombstones. A removal begins before anything is deleted and finishes
// afterwards, so that the next command can complete an interrupted one.
type Removals interface {
	// BeginRemoval records that t.Owner is removing an app; the app's record stays.
	BeginRemoval(ctx context.Context, t Tombstone) error
	// FinishRemoval deletes the app's record and keeps t without its owner. It does not
	// affect a later app with the same key. It reports whether there was a record.
	FinishRemoval(ctx context.Context, t Tombstone) (existed bool, err error)
	// AbortRemoval deletes the tombstone of an app that stays, if it exists.
	AbortRemoval(ctx context.Context, backend, id string) error
	// PendingRemovals returns the removals that have begun but not finished.
	PendingRemovals(ctx context.Context) ([]Tombstone, error)

	// Tombstone returns the tombstone of a removed app. Errors: ErrNotFound.
	Tombstone(ctx context.Context, backend, id string) (Tombstone, error)
	// LastRemoved returns the most recently recorded app if it was removed. Errors:
	// ErrNotFound.
	LastRemoved(ctx context.Context) (Tombstone, error)
	// FindTombstones returns up to MaxMatches removed apps by ID prefix, last removed first.
	FindTombstones(ctx context.Context, prefix string) ([]Tombstone, error)
}

// Leaser records leases of devices.
type Leaser interface {
	// Lease ends the leases of apps that are not in r.Live. Then it records all of r.Own,
	// or none if another app holds one of the devices: held has those leases.
	Lease(ctx context.Context, r LeaseRequest) (held []Lease, err error)
}

// Positions records how far readers have read an app's logs. The app need not be recorded; the
// caller chooses the names of readers and the format of positions.
type Positions interface {
	// GetPosition returns a reader's position; ok is false if it has none.
	GetPosition(ctx context.Context, backend, id, reader string) (position string, ok bool, err error)
	// SetPositions records the positions of several readers, all or none.
	SetPositions(ctx context.Context, backend, id string, positions map[string]string) error
}

// Package history defines the records that torchx keeps of apps and the
// interfaces by which the runner, agents and log archives reach them. Package
// state implements Store with SQLite.
//
//	App          an app as it was submitted, and its last known outcome
//	Event        one change of an app or of a replica
//	Checkpoint   a place in a log, for seeking by time or line
//	Lease        a device that one replica has to itself
//	Tombstone    what is left of a removed app
//
// The history is an index, not the truth: a backend knows better how its live
// apps are. Every caller works on, with a warning, when a Store fails or is nil.
package history

import (
	"context"
	"errors"

	"torchx/runtime/spec"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrNotFound = errors.New("not found")
	ErrExists   = errors.New("already exists")
	ErrFull     = errors.New("no space left") // on the file system of the history
)

// MaxMatches bounds what FindPrefix and FindTombstones return: enough to show
// that a prefix is ambiguous.
const MaxMatches = 20

// Store is a whole history.
type Store interface {
	Apps
	Removals
	Recorder
	Leaser
	Positions

	// ReadOnly reports whether every write fails.
	ReadOnly() bool
	// Complete reports whether SetComplete was called on this history.
	Complete(ctx context.Context) (bool, error)
	// SetComplete records that the history has all apps that backends remember.
	SetComplete(ctx context.Context) error
}

// Apps are the records of apps that were not removed.
type Apps interface {
	// Insert records a new app and deletes a tombstone with its key. Errors: ErrExists.
	Insert(ctx context.Context, a App) error
	// Get returns one app. Errors: ErrNotFound.
	Get(ctx context.Context, backend, id string) (App, error)
	// Last returns the most recently recorded app. Errors: ErrNotFound if there is none.
	Last(ctx context.Context) (App, error)
	// FindPrefix returns the apps whose ids begin with prefix, up to MaxMatches,
	// newest first; only those of exactly that id if there are any.
	FindPrefix(ctx context.Context, prefix string) ([]App, error)
	// List returns the selected apps in the order of f.
	List(ctx context.Context, f Filter) ([]App, error)
	// SetLabels changes an app's labels and returns them. Errors: ErrNotFound.
	SetLabels(ctx context.Context, backend, id string, c LabelChange) (Labels, error)
	// Delete deletes an app and all its records, without a tombstone. Errors: ErrNotFound.
	Delete(ctx context.Context, backend, id string) error

	// Status returns the last recorded status. Errors: ErrNotFound.
	Status(ctx context.Context, backend, id string) (*spec.Status, error)
	// AddEvents appends events. Errors: ErrNotFound.
	AddEvents(ctx context.Context, backend, id string, events []Event) error
	// Events returns an app's events, oldest first. Errors: ErrNotFound.
	Events(ctx context.Context, backend, id string) ([]Event, error)
}

// Recorder takes what is observed of live apps.
type Recorder interface {
	// SetStatus records an observed status, with an event for each change. The end
	// of an app or attempt is final: later calls only add what was unknown.
	// Errors: ErrNotFound.
	SetStatus(ctx context.Context, backend, id string, s *spec.Status) error
	// PutCheckpoints adds or replaces log checkpoints. Errors: ErrNotFound.
	PutCheckpoints(ctx context.Context, backend, id string, points []Checkpoint) error
}

// Removals are the tombstones. A removal is begun before anything is deleted and
// finished after, so that the next command can complete one that was cut short.
type Removals interface {
	// BeginRemoval records that t.Owner is removing an app; the app's record stays.
	BeginRemoval(ctx context.Context, t Tombstone) error
	// FinishRemoval deletes the app's record and keeps t, without its owner; a later
	// app with the same key is left alone. It reports whether there was a record.
	FinishRemoval(ctx context.Context, t Tombstone) (existed bool, err error)
	// AbortRemoval deletes the tombstone of an app that stays; none is no error.
	AbortRemoval(ctx context.Context, backend, id string) error
	// PendingRemovals returns the removals that were begun and not finished.
	PendingRemovals(ctx context.Context) ([]Tombstone, error)

	// Tombstone returns what is known of a removed app. Errors: ErrNotFound.
	Tombstone(ctx context.Context, backend, id string) (Tombstone, error)
	// LastRemoved returns the most recently recorded app if that was removed.
	// Errors: ErrNotFound.
	LastRemoved(ctx context.Context) (Tombstone, error)
	// FindTombstones returns the removed apps whose ids begin with prefix, up to
	// MaxMatches, last removed first.
	FindTombstones(ctx context.Context, prefix string) ([]Tombstone, error)
}

// Leaser keeps the leases of devices.
type Leaser interface {
	// Lease ends the leases of apps that are not in r.Live. It then records all of
	// r.Own, or none if another app has one of the devices: held are those leases.
	Lease(ctx context.Context, r LeaseRequest) (held []Lease, err error)
}

// Positions keeps how far each reader has come in an app's logs. The app need
// not be recorded; reader and position are the caller's texts.
type Positions interface {
	// GetPosition returns a reader's position; ok is false if it has none.
	GetPosition(ctx context.Context, backend, id, reader string) (position string, ok bool, err error)
	// SetPositions records the positions of several readers, all or none.
	SetPositions(ctx context.Context, backend, id string, positions map[string]string) error
}

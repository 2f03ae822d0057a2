package backend

import (
	"context"
	"encoding/json"
	"time"

	"torchx/runtime/spec"
)

// Sweeper is a Backend whose apps' supervisors live on this machine and can be
// killed. Sweep ends what dead ones left running and writes their apps' results;
// its cost depends on the number of live apps only. It does what it can: an error
// is about the rest.
type Sweeper interface {
	Sweep(ctx context.Context) error
}

// Rememberer is a Backend that keeps with each app what the history says of it,
// so that a history that was lost or could not be written is filled again.
type Rememberer interface {
	// Recall returns what is remembered: of every app, or only of those that
	// Submit was told are Unrecorded. An app that cannot be read is left out.
	Recall(ctx context.Context, all bool) ([]Memory, error)
	// Recalled says that an app that was Unrecorded is in the history now.
	Recalled(ctx context.Context, id string) error
}

// Memory is what a backend remembers of an app.
type Memory struct {
	ID          string
	App         *spec.App
	Cfg         Config
	Record      json.RawMessage // Plan.Record
	SubmittedAt time.Time
	Status      *spec.Status
}

// Recorder is a Backend that keeps with an app what was submitted, where other
// machines find it.
type Recorder interface {
	// Submitted returns what is known of what was submitted. Errors: ErrNotFound, ErrUnavailable.
	Submitted(ctx context.Context, id string) (*Submitted, error)
}

// Submitted is what a backend knows of what was submitted. Partial says that it was
// put together from what runs.
type Submitted struct {
	App       *spec.App
	Cfg       Config // nil when not known
	Component string
	Args      []string
	Partial   bool
}

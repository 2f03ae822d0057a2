package backend

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"torchx/runtime/spec"
)

// Waiter is a Backend that can wait without polling.
type Waiter interface {
	// Wait blocks until the app is terminal or ctx ends. Errors: ErrNotFound, ErrUnavailable.
	Wait(ctx context.Context, id string) (*spec.Status, error)
}

// Queuer is a Backend that knows the resources of the machine under it. An app whose
// plan sets Queue waits until its resources fit beside those of the running apps;
// Submit returns when it is queued.
type Queuer interface {
	// Queues reports whether Plan.Queue has an effect.
	Queues() bool
}

// LocalRunner is a Backend whose apps run on this machine. `run` stays with such an app
// unless it is told otherwise, and `top` reads the last lines of its logs.
type LocalRunner interface {
	// RunsHere reports whether apps run on this machine.
	RunsHere() bool
}

// RunsHere reports whether b is a LocalRunner whose apps run on this machine.
func RunsHere(b Backend) bool {
	l, ok := b.(LocalRunner)
	return ok && l.RunsHere()
}

// Prober is a Backend that can be out of reach, such as a server.
type Prober interface {
	// Probe checks that the backend answers. Errors: ErrUnavailable, with the remedy.
	Probe(ctx context.Context) error
}

// Sizer is a Backend that knows the disk space an app uses.
type Sizer interface {
	// Size returns the bytes that Delete with these options would free. Errors: ErrNotFound.
	Size(ctx context.Context, id string, o DeleteOptions) (int64, error)
}

// Sweeper is a Backend whose apps have supervisors on this machine.
type Sweeper interface {
	// Sweep ends what killed supervisors left running and writes the results of their
	// apps, or starts another supervisor. Its cost depends on the number of live apps
	// only. It continues after an error and joins them.
	Sweep(ctx context.Context) error
}

// HistoryRestorer is a Backend that stores with each app what the history has of it,
// so that a history that was lost or not writable is filled again.
type HistoryRestorer interface {
	// AppRecords returns the stored records of every app, or only of those that were
	// submitted as Unrecorded. It leaves out an app that it cannot read.
	AppRecords(ctx context.Context, all bool) ([]AppRecord, error)
	// MarkRecorded notes that an Unrecorded app is in the history now.
	MarkRecorded(ctx context.Context, id string) error
}

// AppRecord is what a backend stores of an app for the history.
type AppRecord struct {
	ID          string
	App         *spec.App
	Cfg         Config
	Record      json.RawMessage // Plan.Record
	SubmittedAt time.Time
	Status      *spec.Status
}

// SubmissionReader is a Backend that stores with an app what was submitted, where
// other machines can read it.
type SubmissionReader interface {
	// Submission returns what was submitted. Errors: ErrNotFound, ErrUnavailable.
	Submission(ctx context.Context, id string) (*Submission, error)
}

// Submission is what was submitted as an app.
type Submission struct {
	App       *spec.App
	Cfg       Config // nil if not known
	Component string
	Args      []string
	Partial   bool // reconstructed from what runs
}

// TrustedFiler is a Backend that runs programs which files named by its options choose,
// such as the credential program of a kubeconfig. The user must have consented to such
// files if others may have chosen them.
type TrustedFiler interface {
	// TrustedFiles returns the files that cfg names and that decide what runs on this
	// machine: absolute paths, without those that the user's environment names. It runs
	// and contacts nothing, and reads a file only to find those that come after it.
	TrustedFiles(cfg Config) iter.Seq[string]
}

// TargetResolver is a Backend that can reach several targets, such as clusters; the
// options of an app select one.
type TargetResolver interface {
	// ResolveTarget returns cfg with the target written out (the current context of a
	// kubeconfig, say), so that the app is found after the surroundings change. It
	// contacts no server. Errors: ErrUnavailable, ErrInvalidOption.
	ResolveTarget(cfg Config) (Config, error)
}

package backend

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

// BatchDescriber is a Backend that reads the statuses of many apps with as few requests as of one.
type BatchDescriber interface {
	// DescribeAll returns the statuses of those of the apps that the backend has, by ID. A status
	// may explain less than Describe's. With an error it returns what it could read, and a nil
	// status for the apps that the backend surely does not have. Errors: ErrUnavailable.
	DescribeAll(ctx context.Context, ids []string) (map[string]*spec.Status, error)
}

// EndFinder is a Backend whose system may remove an app on its own after the app's end.
type EndFinder interface {
	// FindEnd completes the last known status of an app that the backend no longer has: with its
	// end, if something still tells it, otherwise with state Unknown and the reason as Msg.
	// It returns false if the app can only have been removed before it started.
	FindEnd(ctx context.Context, id string, app *spec.App, last *spec.Status) (known bool)
}

// EventLister is a Backend whose system records what happens to the parts of an app, such as pods.
type EventLister interface {
	// Events returns what is still recorded, oldest first. Errors: ErrNotFound, ErrUnavailable, or
	// why it cannot be read.
	Events(ctx context.Context, id string) ([]Event, error)
}

// Event is something that happened to a part of an app.
type Event struct {
	Time    time.Time
	Replica *spec.Replica // nil if it is not known or is about the whole app
	Attempt int
	Msg     string // one line, which names the part
}

// StatusObserver is a Backend that reads statuses of an app while it waits for the app's end or
// follows its logs.
type StatusObserver interface {
	// Observe calls see with each status that is read, even if it repeats, until stop is
	// called. It reads no status itself. see must not block or change the status.
	Observe(id string, see func(*spec.Status)) (stop func())
}

// Queuer is a Backend that knows its machine's resources. If a plan sets Queue, the app waits
// until its resources fit besides those of running apps; Submit returns once it is queued.
type Queuer interface {
	// Queues reports whether Plan.Queue has an effect.
	Queues() bool
}

// LocalRunner is a Backend whose apps run on this machine. By default `run` follows such an app,
// and `top` reads the last lines of its logs.
type LocalRunner interface {
	// RunsHere reports whether apps run on this machine.
	RunsHere() bool
}

// RunsHere reports whether b is a LocalRunner with apps on this machine.
func RunsHere(b Backend) bool {
	l, ok := b.(LocalRunner)
	return ok && l.RunsHere()
}

// Prober is a Backend that can be unreachable, such as a server.
type Prober interface {
	// Probe checks that the backend answers. Errors: ErrUnavailable, with the remedy.
	Probe(ctx context.Context) error
}

// Sizer is a Backend that knows the disk space of an app.
type Sizer interface {
	// Size returns the bytes that Delete with these options would free. Errors: ErrNotFound.
	Size(ctx context.Context, id string, o DeleteOptions) (int64, error)
}

// FolderFinder is a Backend that keeps data of its apps on this machine.
type FolderFinder interface {
	// FolderOf returns the folder with the data of an app that torchx keeps beside its logs. The
	// folder need not exist.
	FolderOf(id string) string
}

// MetricsCollector is a FolderFinder that can collect what the apps' own supervisors have not.
type MetricsCollector interface {
	// CollectMetrics completes the metrics in the folder of an app. If the app has not ended, those
	// of a supervisor that is alive are complete.
	CollectMetrics(ctx context.Context, id string, app *spec.App, ended bool) error
}

// LateCollector is a MetricsCollector whose apps have no supervisor that collects: the history has
// the metrics of an app once CollectMetrics was called.
type LateCollector interface {
	MetricsCollector
	CollectsLate()
}

// Recoverer is a Backend whose apps have supervisors on this machine.
type Recoverer interface {
	// Recover ends what killed supervisors left running and writes the results of their
	// apps, or starts new supervisors. Its cost depends only on the number of live apps.
	// It continues after errors and joins them.
	Recover(ctx context.Context) error
}

// HistoryRestorer is a Backend that stores the history's record of each app with the app, so
// that a history that was lost or not writable can be restored.
type HistoryRestorer interface {
	// AppRecords returns the stored records of all apps, or only of those submitted as
	// Unrecorded. It skips apps that it cannot read.
	AppRecords(ctx context.Context, all bool) ([]AppRecord, error)
	// MarkRecorded marks an Unrecorded app as present in the history.
	MarkRecorded(ctx context.Context, id string) error
}

// AppRecord is the record of an app as stored by a backend.
type AppRecord struct {
	ID          string
	App         *spec.App
	Cfg         Config
	Record      json.RawMessage // Plan.Record
	SubmittedAt time.Time
	Status      *spec.Status
}

// OutputFinder is a Backend whose apps have a folder for outputs, $TORCHX_OUTPUT.
type OutputFinder interface {
	// OutputOf returns where the outputs of an app are. Errors: ErrNotFound, also if the app
	// has no such folder.
	OutputOf(ctx context.Context, id string) (*Output, error)
}

// Output is where the outputs of an app are.
type Output struct {
	// Place is a folder of this machine if Here is set, otherwise a place as the options of
	// the backend name it.
	Place string
	Here  bool
	Kept  bool // Delete keeps it
	// Read is a command that reads a place that is not here, or files of other users; "":
	// none is needed.
	Read string
}

// SubmissionReader is a Backend that stores with an app what was submitted, so that other
// machines can read it.
type SubmissionReader interface {
	// Submission returns what was submitted. Errors: ErrNotFound, ErrUnavailable.
	Submission(ctx context.Context, id string) (*Submission, error)
}

// Submission is what was submitted.
type Submission struct {
	App       *spec.App
	Cfg       Config // nil if unknown
	Component string
	Args      []string
	Partial   bool // reconstructed from running replicas

	ParentRunID, RerunOf string
	history.Labels       // as submitted
}

// TrustedFiler is a Backend that runs programs selected by files that its options name, such as
// the credential program of a kubeconfig. If others may have chosen such files, the user must
// have consented.
type TrustedFiler interface {
	// TrustedFiles returns the files named by cfg that determine what runs on this machine:
	// absolute paths, without those named by the user's environment. It runs and contacts
	// nothing, and reads files only to find further ones.
	TrustedFiles(cfg Config) iter.Seq[string]
}

// TargetResolver is a Backend with several targets, such as clusters, one of which an app's
// options select.
type TargetResolver interface {
	// ResolveTarget returns cfg with an explicit target (such as the current context of a
	// kubeconfig), so that the app is found after the environment changes. It contacts no
	// server. Errors: ErrUnavailable, ErrInvalidOption.
	ResolveTarget(cfg Config) (Config, error)
}

// UsageRecorder is a Backend that records what replicas use over time.
type UsageRecorder interface {
	// UsageDir returns the folder of an app that has the samples (package sample), and why it
	// can have none, "" if it can. The folder need not exist.
	UsageDir(ctx context.Context, id string) (dir, missing string)
}

// UsageMeter is a Backend that can tell what the replicas of an app use now, also of an app of
// which nothing is recorded.
type UsageMeter interface {
	// Usage returns a reading of each running replica. Errors: ErrNotFound, ErrUnavailable, or
	// why nothing is known.
	Usage(ctx context.Context, id string) (map[spec.Replica]sample.Reading, error)
}

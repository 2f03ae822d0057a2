package backend

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// Capabilities is what a backend can do beyond the methods of Backend. A nil or false field is
// missing: the comment of each field says what it adds, and what happens without it.
type Capabilities struct {
	Placement
	Access
	Reports
	Storage
}

// Placement is where and when apps start.
type Placement struct {
	RunsHere bool           // on this machine: `run` follows an app, `top` shows last lines; else `run` returns
	Queues   bool           // `--queue`: with Plan.Queue an app waits for free resources; else an error
	After    AfterKeeper    // `--after`: an app waits for others without the command; else the command waits
	Capacity CapacityFinder // a sweep runs as many trials as fit; else 4 at a time
	Target   TargetResolver // an app is found after the context changed; else the current context
	Trusted  TrustedFiler   // a project's file runs programs only by consent; else options name no such files
	Trials   TrialRunner    // `sweep`: apps that run others as trials; else an error
}

// Access is how users reach running replicas. Without a field its command is an error.
type Access struct {
	Exec     Executor       // `exec`: commands inside replicas
	Ports    PortDialer     // `port-forward`: connections to replicas
	Files    FileCopier     // `cp`: files of replicas
	Terminal TerminalOpener // `--tty` and `attach`
}

// Reports is what a backend reports about itself and its apps.
type Reports struct {
	Doctor      Doctor           // `doctor`: one check per requirement of apps; else no checks
	Batch       BatchDescriber   // `list` reads many apps with few requests; else one by one
	Ends        EndFinder        // how an app ended that its system removed; else it counts as failed
	Events      EventLister      // `events`: what happened to pods; else only the history
	Observers   *Observers       // restarts are announced while an app is followed; else silence
	Submissions SubmissionReader // `rerun` of apps that other machines submitted; else not found
	Manifests   ManifestReader   // `describe --yaml`: the objects of an app; else an error
	Imports     ImportReader     // apps are records from other homes, which nothing acts on
	Usage       UsageRecorder    // `usage`: what replicas used over time; else unknown
	Meter       UsageMeter       // `top`, `usage` of apps that are not recorded; else unknown
}

// Storage is what a backend keeps of its apps.
type Storage struct {
	Folder FolderKeeper // `metrics`, results of --on-end; else an error
	// CollectsLate means that no supervisor collects metrics: the history has those of an app once
	// CollectMetrics was called. Else `list` by a metric collects nothing.
	CollectsLate bool
	Output       OutputFinder    // `output`: files that replicas wrote; else an error
	Size         Sizer           // sizes in `prune` and `delete`; else none
	Logs         LogRetainer     // `delete --keep-logs`, logs of deleted apps; else logs are deleted
	Recovery     Recoverer       // every command ends what dead supervisors left; else nothing
	History      HistoryRestorer // a lost history is restored; else it stays lost
}

// BatchDescriber reads the statuses of many apps with as few requests as of one.
type BatchDescriber interface {
	// DescribeAll returns the statuses of those of the apps that the backend has, by ID. A status
	// may explain less than Describe's. With an error it returns what it could read, and a nil
	// status for the apps that the backend surely does not have. Errors: ErrUnavailable.
	DescribeAll(ctx context.Context, ids []string) (map[string]*spec.Status, error)
}

// EndFinder is for a system that may remove an app on its own after the app's end.
type EndFinder interface {
	// FindEnd completes the last known status of an app that the backend no longer has: with its
	// end, if something still tells it, otherwise with state Unknown and the reason as Msg.
	// It returns false if the app can only have been removed before it started.
	FindEnd(ctx context.Context, id string, app *spec.App, last *spec.Status) (known bool)
}

// EventLister is for a system that records what happens to the parts of an app, such as pods.
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

// Sizer knows the disk space of an app.
type Sizer interface {
	// Size returns the bytes that Delete with these options would free. Errors: ErrNotFound.
	Size(ctx context.Context, id string, o DeleteOptions) (int64, error)
}

// FolderKeeper keeps data of apps on this machine.
type FolderKeeper interface {
	// FolderOf returns the folder with the data of an app that torchx keeps beside its logs. The
	// folder need not exist.
	FolderOf(id string) string
	// CollectMetrics completes the metrics in the folder of an app by those that the app's own
	// supervisor has not collected. If the app has not ended, those of a supervisor that is alive
	// are complete.
	CollectMetrics(ctx context.Context, id string, app *spec.App, ended bool) error
}

// Recoverer is for apps with supervisors on this machine.
type Recoverer interface {
	// Recover ends what killed supervisors left running and writes the results of their
	// apps, or starts new supervisors. Its cost depends only on the number of live apps.
	// It continues after errors and joins them.
	Recover(ctx context.Context) error
}

// HistoryRestorer stores the history's record of each app with the app, so
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

// OutputFinder is for apps with a folder for outputs, $TORCHX_OUTPUT.
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

// SubmissionReader reads what was submitted, which is stored with an app for other machines.
type SubmissionReader interface {
	// Submission returns what was submitted. Errors: ErrNotFound, ErrUnavailable.
	Submission(ctx context.Context, id string) (*Submission, error)
}

// ImportReader is for apps that were exported from another home.
type ImportReader interface {
	// ImportOf returns where an app came from. Errors: ErrNotFound.
	ImportOf(id string) (*Import, error)
}

// Import is where an imported app came from.
type Import struct {
	Handle     string     `json:"handle"` // in its own home
	Host       string     `json:"host"`
	ExportedAt time.Time  `json:"exported_at"`
	ImportedAt *time.Time `json:"imported_at"` // nil in an archive
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

// ManifestReader is for a system whose apps are objects that its own tools create, too.
type ManifestReader interface {
	// Manifests returns the objects of an app as those tools accept them. Errors: ErrNotFound,
	// ErrUnavailable.
	Manifests(ctx context.Context, id string) ([]any, error)
}

// TrustedFiler is for programs selected by files that options name, such as the credential program
// of a kubeconfig. If others may have chosen such files, the user must have consented.
type TrustedFiler interface {
	// TrustedFiles returns the files named by cfg that determine what runs on this machine:
	// absolute paths, without those named by the user's environment. It runs and contacts
	// nothing, and reads files only to find further ones.
	TrustedFiles(cfg Config) iter.Seq[string]
}

// TargetResolver is for several targets, such as clusters, one of which an app's options select.
type TargetResolver interface {
	// ResolveTarget returns cfg with an explicit target (such as the current context of a
	// kubeconfig), so that the app is found after the environment changes. It contacts no
	// server. Errors: ErrUnavailable, ErrInvalidOption.
	ResolveTarget(cfg Config) (Config, error)
}

// UsageRecorder records what replicas use over time.
type UsageRecorder interface {
	// UsageDir returns the folder of an app that has the samples (package sample), and why it
	// can have none, "" if it can. The folder need not exist.
	UsageDir(ctx context.Context, id string) (dir, missing string)
}

// UsageMeter reads what the replicas of an app use now, even if nothing is recorded.
type UsageMeter interface {
	// Usage returns a reading of each running replica. Errors: ErrNotFound, ErrUnavailable, or
	// why nothing is known.
	Usage(ctx context.Context, id string) (map[spec.Replica]sample.Reading, error)
}

// OnEnd is what to run or to tell when an app has ended, however it ended.
type OnEnd struct {
	// Actions are commands of the shell, and URLs that get a POST with JSON.
	Actions []string `json:"actions"`
	// Dir is the folder that commands run in, Environ their environment, "K=V" each, which may
	// be any bytes.
	Dir     string   `json:"dir"`
	Environ [][]byte `json:"environ"`
	// Trusted has the sums (package consent) of the files that the user trusted the actions with.
	Trusted map[string]string `json:"trusted,omitempty"`
	// Command is the component with its arguments, secrets hidden.
	Command string `json:"command"`
	// Secrets are patterns, and Variables exact names, of what the summary must not show.
	Secrets   []string `json:"secrets,omitempty"`
	Variables []string `json:"variables,omitempty"`
}

// TrialRunner is for a backend whose apps are sweeps: each runs other apps as its trials, on the
// backend that its definition names. Replica k of its only role is trial k. Its Plan needs
// PlanInput.Sweep.
type TrialRunner interface {
	// Trials returns how a sweep stands, with all trials in order. Errors: ErrNotFound.
	Trials(ctx context.Context, id string) (*sweep.Snapshot, error)
	// SweepOf returns what was submitted. Trials are read while the sequence is. Errors:
	// ErrNotFound.
	SweepOf(ctx context.Context, id string) (*sweep.Definition,
		iter.Seq2[*sweep.Trial, error], error)
	// Extend adds trials to a sweep that has ended and starts its supervisor again. Errors:
	// ErrNotFound, *StartError.
	Extend(ctx context.Context, id string, e sweep.Extension) error
}

// AfterKeeper starts apps after others have ended, without the command that submits them.
type AfterKeeper interface {
	// KeepsAfter reports whether Submit can take a in Plan.After. It must not take long.
	KeepsAfter(ctx context.Context, a After) bool
}

// CapacityFinder knows how many apps fit.
type CapacityFinder interface {
	// CapacityFor returns how many apps like this one can run at the same time on all that the
	// backend has. Errors: ErrUnavailable.
	CapacityFor(ctx context.Context, app *spec.App, cfg Config) (*Capacity, error)
}

// Capacity is how many apps of one kind fit, and how to start them so that they share nothing that
// must not be shared.
type Capacity struct {
	Apps  int   // at least 1
	Cfg   Layer // options to add, such as exclusive devices
	Queue bool  // start them with Launch.Queue
}

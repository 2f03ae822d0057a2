// Package failpoint lets a test end this program at a named point, in the built binary and without
// a chance to clean up. In a normal build its functions are empty, and the compiler removes the
// calls.
//
// In a build with the tag "failpoint", the environment selects the point:
//
//	TORCHX_FAILPOINT=agent/after-fork      SIGKILL at the first hit
//	TORCHX_FAILPOINT=agent/after-fork:3    … at the third hit
//	TORCHX_FAILPOINT=agent/after-fork!stop SIGSTOP instead, also with :3
//	TORCHX_CLOCK=file                      the clock is wrong by the duration in the file, see Now
package failpoint

// Variable is the environment variable that names the failpoint.
const Variable = "TORCHX_FAILPOINT"

// ClockVariable is the environment variable that names the file with the error of the clock.
const ClockVariable = "TORCHX_CLOCK"

// The failpoints, in the order in which a run passes them.
const (
	Migrating         = "state/migrating"          // the new schema is written, but not committed
	Filling           = "state/filling"            // the history is created, but lost apps are not restored yet
	Recorded          = "cli/recorded"             // the app is in the history, but has no bundle
	Bundled           = "cli/bundled"              // the bundle exists, but no agent
	AgentBegun        = "agent/begun"              // the agent holds its bundle, but has started nothing
	Enqueued          = "agent/enqueued"           // the app is in the queue, but not admitted
	Claimed           = "agent/claimed"            // it has its devices and resources, but is still in the queue
	Forked            = "agent/forked"             // a replica runs, but its start is not recorded
	StartRecorded     = "agent/start-recorded"     // … and is recorded
	Spawned           = "cli/spawned"              // the agent has started all replicas
	DeadlineRecorded  = "agent/deadline-recorded"  // the app exceeded its time limit, which is recorded, but nothing is stopped
	Exited            = "agent/exited"             // a replica has ended, but its exit is not recorded
	ExitRecorded      = "agent/exit-recorded"      // … and is recorded
	Ended             = "agent/ended"              // all have ended, but status.json says that they run
	ResultWritten     = "agent/result-written"     // status.json has the result, but the history does not
	EndNoted          = "agent/end-noted"          // … and what runs at the end is noted, but has not begun
	HistoryWritten    = "agent/history-written"    // … and so does the history; the lock is held
	TrialChosen       = "sweep/trial-chosen"       // a trial's app is in the journal of its sweep, but not submitted
	TrialSubmitted    = "sweep/trial-submitted"    // … and is submitted, which the journal does not say
	TrialUp           = "sweep/trial-up"           // … and the journal says so
	TrialEnded        = "sweep/trial-ended"        // a trial has ended, but not in the journal
	TrialEndRecorded  = "sweep/trial-end-recorded" // … and in the journal
	TrialStopping     = "sweep/trial-stopping"     // a trial is to be stopped by the journal, but nothing is stopped
	SweepExtending    = "sweep/extending"          // an ended sweep is open again, but has no more trials yet
	SweepExtended     = "sweep/extended"           // … and has more trials, but no controller
	RemovalNoted      = "cli/removal-noted"        // the removal of an app is recorded, but nothing is deleted
	Removed           = "cli/removed"              // … and the app is deleted, but still in the history
	FolderCreated     = "slurm/folder-created"     // the folder of an app on Slurm exists, but no job
	JobSubmitted      = "slurm/job-submitted"      // … and Slurm has the job, whose ID is not recorded
	ReconcileRecorded = "agent/reconcile-recorded" // the result of a dead agent's app is written
)

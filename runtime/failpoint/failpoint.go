// Package failpoint lets a test end this program at a named place: the built
// binary, at the moment that matters, without a chance to tidy up. A normal build
// has empty functions here, which the compiler leaves out.
//
// In a build with the tag "failpoint" the environment names the place:
//
//	TORCHX_FAILPOINT=agent/after-fork      SIGKILL at the first hit
//	TORCHX_FAILPOINT=agent/after-fork:3    … at the third hit
//	TORCHX_FAILPOINT=agent/after-fork!stop SIGSTOP instead, also with :3
//	TORCHX_CLOCK=file                      the clock is wrong by what the file says, see Now
package failpoint

// Variable is the environment variable that names the place.
const Variable = "TORCHX_FAILPOINT"

// ClockVariable is the environment variable that names the file with the error of
// the clock.
const ClockVariable = "TORCHX_CLOCK"

// The places, in the order in which a run passes them.
const (
	Migrating         = "state/migrating"          // the new schema is written, not committed
	Filling           = "state/filling"            // the history was begun, what it lost is not in it yet
	Recorded          = "cli/recorded"             // the app is in the history, no bundle is there
	Bundled           = "cli/bundled"              // the bundle is there, no agent
	AgentBegun        = "agent/begun"              // the agent holds its bundle, nothing has started
	Enqueued          = "agent/enqueued"           // the app is in the queue, nothing is decided
	Claimed           = "agent/claimed"            // it has its devices and its room, and is still in the queue
	Forked            = "agent/forked"             // a replica runs, its start is not on record
	StartRecorded     = "agent/start-recorded"     // … and is on record
	Spawned           = "cli/spawned"              // the agent has started all replicas
	Exited            = "agent/exited"             // a replica has ended, its exit is not on record
	ExitRecorded      = "agent/exit-recorded"      // … and is on record
	Ended             = "agent/ended"              // all have ended, status.json says they run
	ResultWritten     = "agent/result-written"     // status.json has the result, the history has not
	HistoryWritten    = "agent/history-written"    // … and so has the history, the lock is held
	RemovalNoted      = "cli/removal-noted"        // an app is going to be deleted, all of it is there
	Removed           = "cli/removed"              // … and is deleted, the history still has it
	ReconcileRecorded = "agent/reconcile-recorded" // the result of a dead agent's app is written
)

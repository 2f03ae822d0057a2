package job

import (
	"cmp"
	"slices"
	"strings"

	"torchx/runtime/spec"
)

// Words of Slurm that others depend on (slurm.h, JOB STATE CODES of squeue(1)).
const (
	statusPending   = "PENDING"
	statusRunning   = "RUNNING"
	statusCompleted = "COMPLETED"
	statusCancelled = "CANCELLED"
	statusFailed    = "FAILED"
	statusTimeout   = "TIMEOUT"
	statusDeadline  = "DEADLINE"
	statusMemory    = "OUT_OF_MEMORY"
	statusNodeFail  = "NODE_FAIL"
	statusPreempted = "PREEMPTED"
	statusBootFail  = "BOOT_FAIL"
	statusRevoked   = "REVOKED"
	statusSuspended = "SUSPENDED"

	flagCompleting  = "COMPLETING"
	flagConfiguring = "CONFIGURING"
)

// bases maps the base states to torchx's, as TorchX does.
var bases = map[string]spec.State{
	statusPending: spec.Pending, statusRunning: spec.Running, statusSuspended: spec.Pending,
	statusCompleted: spec.Succeeded, statusCancelled: spec.Cancelled,
	statusFailed: spec.Failed, statusTimeout: spec.Failed, statusDeadline: spec.Failed, statusMemory: spec.Failed,
	statusNodeFail: spec.Failed, statusPreempted: spec.Failed, statusBootFail: spec.Failed,
}

// flags maps the flags that change a state. Until 23.02, a flag is printed instead of the base
// state.
var flags = map[string]spec.State{
	flagCompleting: spec.Running, "STAGE_OUT": spec.Running, "SIGNALING": spec.Running, "EXPEDITING": spec.Pending,
	flagConfiguring: spec.Pending, "POWER_UP_NODE": spec.Pending, "STOPPED": spec.Pending, "RESIZING": spec.Pending,
	"REQUEUED": spec.Pending, "REQUEUE_FED": spec.Pending, "REQUEUE_HOLD": spec.Pending, "SPECIAL_EXIT": spec.Pending, "RESV_DEL_HOLD": spec.Pending,
	"LAUNCH_FAILED": spec.Failed, "RECONFIG_FAIL": spec.Failed, statusRevoked: spec.Failed,
}

// setState reads a state: a word, a list of words, or CANCELLED by USER.
func (j *Job) setState(state []string) {
	for _, word := range state {
		word, by, _ := strings.Cut(strings.TrimSpace(word), " by ")
		if word = strings.ToUpper(strings.TrimRight(word, "+")); word == "" {
			continue
		}
		if j.KilledBy == "" {
			j.KilledBy = by
		}
		if _, ok := bases[word]; ok && j.Status == "" {
			j.Status = word
			continue
		}
		j.Flags = append(j.Flags, word)
	}
	if _, ok := j.flag(); !ok && j.Status == "" && len(j.Flags) > 0 {
		j.Status, j.Flags = j.Flags[0], j.Flags[1:] // a state that is not known here
	}
}

// flag returns the first flag that determines the state.
func (j *Job) flag() (string, bool) {
	i := slices.IndexFunc(j.Flags, func(f string) bool { _, ok := flags[f]; return ok })
	if i < 0 {
		return "", false
	}
	return j.Flags[i], true
}

// State returns the job's state. A job whose processes are being ended still runs.
func (j *Job) State() spec.State {
	if f, ok := j.flag(); ok {
		return flags[f]
	}
	if s, ok := bases[j.Status]; ok {
		return s
	}
	return spec.Unknown
}

// StateOf returns the state of the jobs that belong together: they run while one of them does,
// and have ended when all have.
func StateOf(jobs []Job) spec.State {
	count := map[spec.State]int{}
	for i := range jobs {
		count[jobs[i].State()]++
	}
	for _, s := range []spec.State{spec.Running, spec.Pending, spec.Unknown, spec.Failed, spec.Cancelled, spec.Succeeded} {
		switch {
		case count[s] == 0:
		case s == spec.Pending && count[s] < len(jobs) && jobs[0].Array.ID > 0: // its tasks start one by one
			return spec.Running
		default:
			return s
		}
	}
	return spec.Unknown
}

// setReason splits a reason from its detail. Spaces of a detail may be underscores.
func (j *Job) setReason(reason, detail string) {
	if i := strings.IndexAny(reason, ",( "); i > 0 && !isSentence(reason[:i]) {
		reason, detail = reason[:i], cmp.Or(detail, reason[i+1:])
	}
	if reason == "None" || reason == "WaitingForScheduling" {
		reason = ""
	}
	if isSentence(reason) {
		reason, detail = "", cmp.Or(detail, reason)
	}
	j.Reason = reason
	if !strings.Contains(detail, " ") {
		detail = strings.ReplaceAll(detail, "_", " ")
	}
	detail = strings.TrimPrefix(strings.TrimSpace(detail), j.Reason)
	j.Detail = strings.Trim(detail, " ,()")
}

// isSentence reports whether a reason is a text with underscores instead of spaces: the codes of
// Slurm have none.
func isSentence(reason string) bool { return strings.Contains(reason, "_") }

package observe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"torchx/backends/slurm/folder"
	"torchx/backends/slurm/job"
	"torchx/runtime/outcome"
	"torchx/runtime/spec"
)

// Observation is what is known of an app that torchx submitted.
type Observation struct {
	App          *spec.App
	Submitted    time.Time
	JobID        int64
	Run          *folder.Run
	Cancelled    bool   // the end of the app was requested
	CancelReason string // why; "" if unknown
	After        string // the message while its job waits for those of other apps; "": for none
	Unmet        string // the message if one of them did not end as required
	// Jobs are those of Slurm; if it knows none, the job has ended, and NotAccounted says
	// whether the cluster has no accounting that could know more.
	Jobs         []job.Job
	NotAccounted bool
	// Unreachable is why Slurm did not answer; Jobs then assumes that the job runs.
	Unreachable error
	// ErrorFile returns the error file of an attempt, nil if it has none.
	ErrorFile func(r spec.Replica, attempt int) json.RawMessage
	// Messages returns what the launcher and srun printed last; nil if that is unknown.
	Messages func() string
}

// Status returns the app's status without its handle. What the launcher recorded comes first:
// Slurm knows only the job as a whole.
func (o *Observation) Status() *spec.Status {
	s := &spec.Status{SubmittedAt: &o.Submitted, Roles: []spec.RoleStatus{}}
	for i := range o.App.Roles {
		role := spec.RoleStatus{Role: o.App.Roles[i].Name, Replicas: []spec.ReplicaStatus{}}
		for id := range o.App.Roles[i].NumReplicas {
			r := spec.Replica{Role: role.Role, ID: id}
			last, past := o.replica(r)
			role.Replicas, s.Past = append(role.Replicas, last), append(s.Past, past...)
			for _, a := range o.Run.Replicas[r] {
				s.StartedAt = outcome.Earlier(s.StartedAt, &a.Start)
			}
		}
		s.Roles = append(s.Roles, role)
	}
	slices.SortStableFunc(s.Past, func(x, y spec.ReplicaStatus) int { return outcome.CompareTimes(x.FinishedAt, y.FinishedAt) })
	s.Past = outcome.Newest(s.Past)
	o.setRestarts(s)
	if o.ended() {
		o.conclude(s)
	} else {
		o.progress(s)
	}
	s.StructuredErrorMsg = outcome.ErrorFile(s)
	return s
}

// ended reports whether nothing of the app runs any more or will.
func (o *Observation) ended() bool {
	return o.Run.End != nil || len(o.Jobs) == 0 || o.state().Terminal()
}

// state returns the state of the job.
func (o *Observation) state() spec.State { return job.StateOf(o.Jobs) }

// waits reports whether the job waits for its start. Slurm's answer may be older than the start
// that the launcher recorded.
func (o *Observation) waits() bool {
	return o.isRequeued() || len(o.Run.Begins) == 0 && o.state() == spec.Pending
}

// isRequeued reports whether Slurm requeued the job and the launcher has not begun again. Slurm
// counts the restart before it ends the processes, and says RUNNING until they have ended.
func (o *Observation) isRequeued() bool {
	n := len(o.Run.Begins)
	return n > 0 && o.Run.End == nil && len(o.Jobs) > 0 &&
		o.Run.Begins[n-1].Restart < o.Jobs[0].Restarts
}

// startsAgain reports whether Slurm requeued the job after an attempt began: another one follows,
// unless the job ends before.
func (o *Observation) startsAgain(a *folder.Attempt) bool {
	n := len(o.Run.Begins)
	return o.isRequeued() || a.Exit != nil &&
		(a.Exit.How == folder.HowLost || n > 1 && o.Run.Begins[n-1].Time.After(a.Exit.Time))
}

// replica returns the status of a replica in its last attempt, which may not have begun, and those
// of the attempts before.
func (o *Observation) replica(r spec.Replica) (last spec.ReplicaStatus, past []spec.ReplicaStatus) {
	attempts := o.Run.Replicas[r]
	last = spec.ReplicaStatus{ID: r.ID, Role: r.Role, State: spec.Pending}
	if o.ended() {
		last.State = spec.Cancelled
	}
	for i := range attempts {
		a := &attempts[i]
		if isLast := i == len(attempts)-1; isLast && !o.startsAgain(a) {
			return o.attempt(r, a, true), past
		}
		past = append(past, o.attempt(r, a, false))
		last.Attempt = a.Number + 1
	}
	return last, past
}

// attempt returns the status of an attempt, which is the last one of its replica or not.
func (o *Observation) attempt(r spec.Replica, a *folder.Attempt, isLast bool) spec.ReplicaStatus {
	s := spec.ReplicaStatus{ID: r.ID, Role: r.Role, State: spec.Running, Attempt: a.Number, Hostname: a.Host, StartedAt: &a.Start, PID: a.PID}
	if a.Memory != nil && a.Exit != nil {
		s.MaxRSSBytes, s.MaxRSSSource = &a.Memory.Bytes, a.Memory.Source
	}
	switch {
	case a.Exit == nil && !isLast:
		s.State, s.Msg = spec.Cancelled, msgRequeued
	case a.Exit == nil && !o.ended():
		if o.isLost(r, a) {
			s.State, s.Msg = spec.Failed, msgLost
		}
	case a.Exit == nil:
		o.setLost(&s)
	default:
		o.setExit(&s, a, isLast)
	}
	if isLast && a.Exit != nil && s.State == spec.Failed && o.isLost(r, a) {
		s.Msg = msgLost
	}
	if s.State == spec.Failed && o.ErrorFile != nil {
		s.StructuredErrorMsg = o.ErrorFile(r, a.Number)
	}
	return s
}

// setExit sets the result of an attempt whose end the launcher recorded.
func (o *Observation) setExit(s *spec.ReplicaStatus, a *folder.Attempt, isLast bool) {
	if a.Exit.How == folder.HowSignaled && isLast && !o.ended() {
		s.Msg = msgSignaled // whether Slurm ends or requeues the job is not known yet
		return
	}
	s.FinishedAt = &a.Exit.Time
	if a.Exit.How == folder.HowLost { // its code is not known
		s.State, s.Msg = spec.Cancelled, msgRequeued
		return
	}
	if a.Exit.Code >= 0 {
		s.ExitCode, s.Signal = &a.Exit.Code, spec.SignalName(a.Exit.Code)
	}
	switch {
	case a.Exit.How == folder.HowSignaled && !isLast:
		s.State, s.Msg = spec.Cancelled, msgRequeued
	case a.Exit.How != folder.HowExited:
		s.State = spec.Cancelled
	case a.Exit.Code == 0:
		s.State = spec.Succeeded
	default:
		s.State = spec.Failed
		if o.ranOutOfMemory(a) {
			s.Msg = msgOutOfMemory
		}
	}
}

// setLost sets the result of an attempt that ended with its job.
func (o *Observation) setLost(s *spec.ReplicaStatus) {
	s.State, s.Msg = spec.Failed, "its end was not recorded"
	switch {
	case o.isCancelled():
		s.State, s.Msg = spec.Cancelled, ""
	case len(o.Jobs) > 0:
		j := o.deciding()
		s.ExitCode, s.Signal = j.Code()
		s.FinishedAt, s.Msg = j.Ended, cmp.Or(o.why(), s.Msg)
		if s.State = j.State(); !s.State.Terminal() { // the launcher recorded its end before that of the replica
			s.State = spec.Cancelled
		}
	}
}

// isCancelled reports whether an app that has ended was canceled.
func (o *Observation) isCancelled() bool {
	switch {
	case o.Run.End != nil:
		return o.Run.End.State == spec.Cancelled
	case len(o.Jobs) == 0:
		return o.Cancelled
	}
	state := o.state()
	return state == spec.Cancelled || state == spec.Failed && o.Cancelled
}

// deciding returns the job that decides the result: the first one that did not succeed.
func (o *Observation) deciding() *job.Job {
	best := &o.Jobs[0]
	for i := range o.Jobs {
		j := &o.Jobs[i]
		if fails := j.State() != spec.Succeeded; fails &&
			(best.State() == spec.Succeeded || outcome.CompareTimes(j.Ended, best.Ended) < 0) {
			best = j
		}
	}
	return best
}

// why returns why the job ended, "" if Slurm does not say.
func (o *Observation) why() string {
	if len(o.Jobs) == 0 || !o.state().Terminal() {
		return ""
	}
	j := o.deciding()
	if _, signal := j.Code(); len(o.Run.Begins) > 0 && j.Reason == launchFailure && signal != "" {
		return fmt.Sprintf("its launcher was killed by %s: often the job used more memory than it asked for (ask for more memory in the role's resource)", signal)
	}
	return j.Why()
}

// launchFailure is Slurm's reason for a batch script that ended by a signal, also after its start.
const launchFailure = "JobLaunchFailure"

// conclude sets the result of an app that has ended.
func (o *Observation) conclude(s *spec.Status) {
	failed := s.FailedReplicas()
	code := 0
	switch {
	case o.Run.End != nil:
		s.State, code, s.FinishedAt = o.Run.End.State, o.Run.End.Code, &o.Run.End.Time
	case len(o.Jobs) > 0:
		j := o.deciding()
		s.State, s.FinishedAt = o.state(), j.Ended
		if c, _ := j.Code(); c != nil {
			code = *c
		}
	default:
		s.State, code = spec.Failed, spec.ExitNotStarted
	}
	if o.isCancelled() {
		s.State, code = spec.Cancelled, spec.ExitCancelled
	}
	s.ExitCode = &code
	switch s.State {
	case spec.Cancelled:
		s.Msg = "cancelled"
		if why := o.why(); len(o.Jobs) > 0 && o.state() == spec.Cancelled {
			s.Msg = why
			if len(o.Run.Begins) == 0 && o.deciding().NeverStarts() {
				s.Msg = cmp.Or(o.Unmet, why)
			}
		}
		s.Msg = cmp.Or(o.CancelReason, s.Msg)
	case spec.Failed:
		if len(failed) > 0 {
			s.FirstFailure = &failed[0]
		}
		s.Msg = o.failure(s)
	}
}

// failure describes why the app failed.
func (o *Observation) failure(s *spec.Status) string {
	limits, err := o.App.Limits()
	f := s.FirstFailure
	switch {
	case o.Run.End == nil && len(o.Jobs) == 0:
		return o.gone()
	case *s.ExitCode == spec.ExitDeadline && err == nil && limits.Timeout > 0 && o.Run.End != nil:
		return spec.DeadlineText(limits.Timeout)
	case o.requeuedTooOften():
		return "Slurm requeued it more often than allowed (raise -cfg max_requeues)"
	case o.Run.End == nil:
		return cmp.Or(o.why(), fmt.Sprintf("the job ended with exit code %d", *s.ExitCode))
	case f == nil:
		return cmp.Or(o.why(), fmt.Sprintf("the launcher ended with exit code %d, see slurm.out in its folder", *s.ExitCode))
	}
	return outcome.Message(f)
}

// requeuedTooOften reports whether the launcher ended the app because of max_requeues: it does so
// right after a begin.
func (o *Observation) requeuedTooOften() bool {
	n := len(o.Run.Begins)
	if o.Run.End == nil || o.Run.End.Code != spec.ExitNotStarted || n == 0 ||
		o.Run.Begins[n-1].Restart == 0 {
		return false
	}
	for _, attempts := range o.Run.Replicas {
		if attempts[len(attempts)-1].Start.After(o.Run.Begins[n-1].Time) {
			return false
		}
	}
	return true
}

// gone describes an app whose job Slurm has forgotten before the launcher recorded its end.
func (o *Observation) gone() string {
	text := fmt.Sprintf("its result is unknown: the launcher recorded no end, and Slurm no longer knows job %d", o.JobID)
	if o.NotAccounted {
		text += " (the cluster has no accounting)"
	}
	return text
}

// progress sets the state of an app that has not ended.
func (o *Observation) progress(s *spec.Status) {
	s.State = spec.Pending
	pending := 0
	for _, role := range s.Roles {
		for _, r := range role.Replicas {
			switch {
			case r.State == spec.Pending:
				pending++
			case r.State == spec.Running, r.State.Terminal():
				s.State = spec.Running
			}
		}
	}
	if o.waits() {
		s.State = spec.Pending
	}
	switch {
	case o.Unreachable != nil:
		s.Msg = "as its launcher recorded; " + o.Unreachable.Error()
	case o.Cancelled:
		s.Msg = "is being canceled"
	case o.waits():
		s.Msg = waits(o.Jobs)
		switch {
		case s.Msg == "" && o.isRequeued():
			s.Msg = "is being requeued by Slurm"
		case o.After != "" && (s.Msg == "" || o.Jobs[0].Depends()):
			s.Msg = o.After
		}
	case o.state() == spec.Unknown:
		s.Msg = "Slurm reports a state that torchx does not know: " + o.Jobs[0].Status
	case pending > 0 && len(o.Run.Begins) == 0:
		s.Msg = "its nodes are being prepared"
	}
}

// setRestarts sets the restarts: those by the launcher, and those by Slurm after a node failed or
// a job of higher priority needed its nodes.
func (o *Observation) setRestarts(s *spec.Status) {
	requeues := 0
	for i := range o.Jobs {
		requeues = max(requeues, o.Jobs[i].Restarts)
	}
	for i := 1; i < len(o.Run.Begins); i++ {
		s.Restarts = append(s.Restarts, o.requeue(o.Run.Begins[i].Time))
	}
	s.NumRestarts = len(o.Run.Restarts) + max(requeues, len(s.Restarts))
	s.Restarts = append(s.Restarts, o.Run.Restarts...)
	slices.SortStableFunc(s.Restarts, func(x, y spec.Restart) int { return x.Time.Compare(y.Time) })
	s.Restarts = outcome.Newest(s.Restarts)
}

// requeue returns the restart of the whole app at a time.
func (o *Observation) requeue(at time.Time) spec.Restart {
	return spec.Restart{
		Time: at, Role: o.App.Roles[0].Name, Policy: spec.RetryApplication, Free: true,
		Msg: "Slurm requeued the job: a node failed, a job of higher priority needed it, " +
			"or `scontrol requeue`",
	}
}

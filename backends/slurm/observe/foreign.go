// Package observe derives the status of an app from what Slurm tells of its jobs, and what the
// launcher wrote into the folder of the app. It runs no command, reads no file and has no clock.
package observe

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"torchx/backends/slurm/job"
	"torchx/runtime/history"
	"torchx/runtime/outcome"
	"torchx/runtime/spec"
)

// Foreign returns the status of jobs that belong together and that torchx did not submit: those
// of TorchX and of other programs. jobs is not empty.
func Foreign(jobs []job.Job) *spec.Status {
	s := &spec.Status{Roles: []spec.RoleStatus{}}
	for i, r := range replicas(jobs) {
		at := slices.IndexFunc(s.Roles, func(have spec.RoleStatus) bool { return have.Role == r.Role })
		if at < 0 {
			at, s.Roles = len(s.Roles), append(s.Roles, spec.RoleStatus{Role: r.Role})
		}
		s.Roles[at].Replicas = append(s.Roles[at].Replicas, replica(r, &jobs[i]))
	}
	for i := range s.Roles {
		slices.SortStableFunc(s.Roles[i].Replicas, func(a, b spec.ReplicaStatus) int { return cmp.Compare(a.ID, b.ID) })
	}
	Main(s, jobs)
	return s
}

// Main sets what the jobs alone tell of their app: its state, times, restarts, and in Msg why it
// waits or failed.
func Main(s *spec.Status, jobs []job.Job) {
	s.State = job.StateOf(jobs)
	for i := range jobs {
		j := &jobs[i]
		s.SubmittedAt = outcome.Earlier(s.SubmittedAt, j.Submitted)
		s.NumRestarts = max(s.NumRestarts, j.Restarts)
		if j.State().Started() {
			s.StartedAt = outcome.Earlier(s.StartedAt, j.Started)
		}
		if s.State.Terminal() {
			s.FinishedAt = outcome.Later(s.FinishedAt, j.Ended)
		}
	}
	switch {
	case s.State == spec.Pending:
		s.Msg = waits(jobs)
	case s.State.Terminal():
		conclude(s, jobs)
	}
}

const (
	// estimate precedes when Slurm expects to start a job.
	estimate = ", expected to start at "
	// maxEstimate hides estimates that assume that jobs without a time limit run for a year, and
	// minEstimate those of jobs that Slurm tries to start in each of its rounds.
	maxEstimate = 30 * 24 * time.Hour
	minEstimate = 5 * time.Second
)

// WithoutEstimate returns a status without the expected start, which changes all the time.
func WithoutEstimate(s *spec.Status) *spec.Status {
	msg, _, ok := strings.Cut(s.Msg, estimate)
	if !ok {
		return s
	}
	short := *s
	short.Msg = msg
	return &short
}

// waits describes why jobs wait; "" if nothing is known.
func waits(jobs []job.Job) string {
	for i := range jobs {
		text := jobs[i].Waits()
		if text == "" {
			continue
		}
		text = "waits: " + text
		if at := jobs[i].Started; at != nil {
			if d := time.Until(*at); d > minEstimate && d < maxEstimate {
				text += estimate + at.UTC().Format(time.RFC3339)
			}
		}
		return text
	}
	return ""
}

// conclude sets the result of jobs that ended: that of the first one that failed.
func conclude(s *spec.Status, jobs []job.Job) {
	ended := slices.Clone(jobs)
	slices.SortStableFunc(ended, func(a, b job.Job) int { return outcome.CompareTimes(a.Ended, b.Ended) })
	i := max(0, slices.IndexFunc(ended, func(j job.Job) bool { return j.State() == s.State }))
	s.ExitCode, _ = ended[i].Code()
	switch s.State {
	case spec.Cancelled:
		s.Msg = ended[i].Why()
	case spec.Failed:
		if failed := s.FailedReplicas(); len(failed) > 0 {
			s.FirstFailure = &failed[0]
			s.Msg = outcome.Message(s.FirstFailure)
		}
	}
}

// replicas returns the role and number of each job: by its name if TorchX submitted it
// (trainer-0), else by its place among the jobs.
func replicas(jobs []job.Job) []spec.Replica {
	all := make([]spec.Replica, len(jobs))
	for i := range jobs {
		role, id, ok := torchxName(jobs[i].Name)
		if !ok || len(jobs) == 1 && jobs[i].Het.Leader == 0 && id != 0 {
			return numbered(jobs)
		}
		all[i] = spec.Replica{Role: role, ID: id}
	}
	for i := range all {
		if slices.Contains(all[:i], all[i]) {
			return numbered(jobs)
		}
	}
	return all
}

// numbered numbers the jobs of each name.
func numbered(jobs []job.Job) []spec.Replica {
	next := map[string]int{}
	all := make([]spec.Replica, len(jobs))
	for i := range jobs {
		name := cmp.Or(jobs[i].Name, "job")
		all[i] = spec.Replica{Role: name, ID: next[name]}
		next[name]++
	}
	return all
}

// torchxName splits the name of a job that TorchX submitted: ROLE-NUMBER.
func torchxName(name string) (role string, id int, ok bool) {
	at := strings.LastIndexByte(name, '-')
	if at <= 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(name[at+1:])
	return name[:at], n, err == nil && n >= 0 && n < spec.MaxReplicas &&
		strconv.Itoa(n) == name[at+1:]
}

// replica returns the status of a job as a replica.
func replica(r spec.Replica, j *job.Job) spec.ReplicaStatus {
	s := spec.ReplicaStatus{ID: r.ID, Role: r.Role, State: j.State(), Attempt: j.Restarts, Hostname: hostname(j.Nodes)}
	if s.State.Started() {
		s.StartedAt = j.Started
	} else {
		s.Hostname = ""
	}
	if s.State.Terminal() {
		s.FinishedAt = j.Ended
	}
	if s.State == spec.Succeeded || s.State == spec.Failed {
		s.ExitCode, s.Signal = j.Code()
		s.Msg = j.Why()
	}
	return s
}

// maxNames is how many nodes a hostname lists.
const maxNames = 4

// hostname returns the nodes of a job as one text.
func hostname(nodes []string) string {
	if len(nodes) > maxNames {
		return fmt.Sprintf("%s and %d more", strings.Join(nodes[:maxNames], ","),
			len(nodes)-maxNames)
	}
	return strings.Join(nodes, ",")
}

// App returns what can be known of an app that torchx did not submit.
func App(jobs []job.Job) *spec.App {
	app := &spec.App{Name: cmp.Or(jobs[0].Name, strconv.FormatInt(jobs[0].Main(), 10)), Metadata: map[string]any{}}
	if role, _, ok := torchxName(app.Name); ok {
		app.Name = role
	}
	for i, r := range replicas(jobs) {
		if role := app.Role(r.Role); role != nil {
			role.NumReplicas++
			continue
		}
		role := spec.NewRole(r.Role, jobs[i].WorkDir)
		role.Entrypoint = cmp.Or(jobs[i].Command, spec.Missing)
		app.Roles = append(app.Roles, role)
	}
	return app
}

// Summary returns jobs that belong together as an item of a list.
func Summary(jobs []job.Job) history.View {
	s := Foreign(jobs)
	v := history.View{Foreign: true}
	v.User = jobs[0].User
	v.ID, v.Name = strconv.FormatInt(jobs[0].Main(), 10), App(jobs).Name
	v.State, v.SubmittedAt, v.FinishedAt, v.ExitCode = s.State, s.SubmittedAt, s.FinishedAt, s.ExitCode
	return v
}

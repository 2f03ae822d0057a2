// Package usage samples the resource usage of running apps, for `top`.
//
// A Sampler combines the history (which apps run, or have just ended), the backends (status and
// last lines of output) and /proc (CPU time and memory of this machine's processes) into one App
// each. CPU is the average since the previous sample.
package usage

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

// App is one app. Unknown values are nil.
type App struct {
	history.View
	Amounts
	Replicas []Replica
	Waiting  string // why it has not started
}

// Amounts are the resources that an app or a replica uses; nil if unknown.
type Amounts struct {
	CPU     *float64 `json:"cpu_percent"` // 100 is one processor
	RSS     *int64   `json:"rss_bytes"`   // peak after the end
	Elapsed *float64 `json:"elapsed_seconds"`
}

// Replica is one replica of an App. Amounts and Replica have the JSON form of `top --json`.
type Replica struct {
	Role    string     `json:"role"`
	ID      int        `json:"replica"`
	State   spec.State `json:"state"`
	Attempt int        `json:"attempt"`
	PID     *int       `json:"pid"`
	Amounts
	LastLine *string `json:"last_line"`
}

func newApp(v history.View, s *spec.Status, now time.Time) *App {
	v.Update(s)
	app := &App{
		View: v, Replicas: []Replica{},
		Amounts: Amounts{Elapsed: elapsed(s.StartedAt, s.FinishedAt, now)},
	}
	if s.State == spec.Pending {
		app.Waiting = s.Msg
	}
	for _, role := range s.Roles {
		for i := range role.Replicas {
			at := now
			if r := &role.Replicas[i]; r.State.Terminal() && s.FinishedAt != nil { // its own end may be unknown
				at = *s.FinishedAt
			}
			app.Replicas = append(app.Replicas, newReplica(role.Role, &role.Replicas[i], at))
		}
	}
	return app
}

func newReplica(role string, r *spec.ReplicaStatus, now time.Time) Replica {
	out := Replica{
		Role: role, ID: r.ID, State: r.State, Attempt: r.Attempt,
		Amounts: Amounts{RSS: r.MaxRSSBytes, Elapsed: elapsed(r.StartedAt, r.FinishedAt, now)},
	}
	if r.State == spec.Running && r.PID > 0 {
		out.PID = &r.PID
	}
	if r.CPUSeconds != nil && out.Elapsed != nil && *out.Elapsed > 0 {
		percent := 100 * *r.CPUSeconds / *out.Elapsed
		out.CPU = &percent
	}
	return out
}

func elapsed(from, to *time.Time, now time.Time) *float64 {
	if from == nil {
		return nil
	}
	if to == nil {
		to = &now
	}
	seconds := max(0, to.Sub(*from).Seconds())
	return &seconds
}

// sum adds up the replicas; of a live app, only the running ones.
func (a *App) sum() {
	for i := range a.Replicas {
		r := &a.Replicas[i]
		if !a.State.Terminal() && r.State != spec.Running {
			continue
		}
		a.CPU, a.RSS = plus(a.CPU, r.CPU), plus(a.RSS, r.RSS)
	}
}

func plus[T int64 | float64](a, b *T) *T {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	total := *a + *b
	return &total
}

const (
	// meterEvery is how often a backend is asked what an app uses: metrics-server has new values
	// every 15 s.
	meterEvery = 10 * time.Second
	// meterTime bounds the wait for all answers.
	meterTime = 2 * time.Second
	// metersAtOnce bounds the concurrent requests.
	metersAtOnce = 8
)

// meters are the last answers of backends that know what replicas use which are not processes of
// this machine.
type meters map[runner.Ref]metered

type metered struct {
	at   time.Time // when it was asked
	used map[spec.Replica]sample.Reading
}

// read sets what running replicas without a process here use. Nothing is set if the backend does
// not answer or does not know.
func (m meters) read(ctx context.Context, r *runner.Runner, apps []*App, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, meterTime)
	defer cancel()
	var ask errgroup.Group
	ask.SetLimit(metersAtOnce)
	answers := make([]metered, len(apps))
	for i, a := range apps {
		ref := a.AppKey
		answers[i] = m[ref]
		can, err := r.Backends.Capabilities(a.Backend)
		if err != nil || can.Meter == nil || !a.runsElsewhere() ||
			now.Sub(answers[i].at) < meterEvery {
			continue
		}
		ask.Go(func() error {
			used, err := can.Meter.Usage(ctx, a.ID)
			if err != nil {
				used = nil // why is told by `torchx usage`
			}
			answers[i] = metered{now, used}
			return nil
		})
	}
	_ = ask.Wait() // no function returns an error
	clear(m)
	for i, a := range apps {
		m[a.AppKey] = answers[i]
		a.setUsed(answers[i].used)
	}
}

// runsElsewhere reports whether a replica runs that is not a process of this machine.
func (a *App) runsElsewhere() bool {
	for i := range a.Replicas {
		if r := &a.Replicas[i]; r.State == spec.Running && r.PID == nil {
			return true
		}
	}
	return false
}

func (a *App) setUsed(used map[spec.Replica]sample.Reading) {
	for i := range a.Replicas {
		r := &a.Replicas[i]
		if u, ok := used[spec.Replica{Role: r.Role, ID: r.ID}]; ok &&
			r.State == spec.Running && r.PID == nil {
			r.CPU, r.RSS = u.Rate, u.Memory
		}
	}
}

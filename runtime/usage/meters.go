package usage

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"torchx/runtime/runner"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

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
		if err != nil || can.Meter == nil || !a.runsElsewhere() || now.Sub(answers[i].at) < meterEvery {
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
		if u, ok := used[spec.Replica{Role: r.Role, ID: r.ID}]; ok && r.State == spec.Running && r.PID == nil {
			r.CPU, r.RSS = u.Rate, u.Memory
		}
	}
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/history"
	"torchx/runtime/machine"
	"torchx/runtime/spec"
)

// An app that wants devices of its own, or was submitted with --queue, asks for
// admission before its replicas start. Who may start with what is decided under
// one lock of the home, from the bundles of the apps that live: a history that is
// locked, read-only or lost changes nothing. The history's leases are kept in step.

// leaseWait bounds the wait for the history, since other apps wait for the lock.
const leaseWait = 2 * time.Second

// queuedPrefix begins the message of an app that waits.
const queuedPrefix = "queued: "

// Leaser is the part of a Store that keeps leases of devices.
type Leaser interface {
	Lease(ctx context.Context, r history.LeaseRequest) (held []history.Lease, err error)
}

// admission is one app's way to its start. After newAdmission one goroutine at a
// time uses it.
type admission struct {
	bundle   Bundle
	manifest *Manifest
	demand   machine.Size
	total    machine.Size
	pool     devicePool
	census   *census
	open     func(context.Context) (Store, error)
	log      *log.Logger

	before    int         // entries of the queue before this one, when last looked
	withdrawn atomic.Bool // the app has ended: nothing may be given to it any more
}

// verdict is the answer to one try: either the app has its claim, or waiting says why not yet.
type verdict struct {
	claim   *claim
	waiting string
}

// asks reports whether an app needs admission at all.
func (m *Manifest) asks() bool { return m.Queue || m.Devices.wanted() > 0 }

// newAdmission fails if the app can never be admitted.
func newAdmission(b Bundle, m *Manifest, c Config, l *log.Logger) (*admission, error) {
	q := &admission{
		bundle: b, manifest: m, demand: demandOf(m.App), census: &census{self: b}, log: l,
		open: func(ctx context.Context) (Store, error) { return c.OpenStore(ctx, m.Home) },
	}
	q.pool = devicePool{total: len(m.GPUs), allowed: m.GPUs}
	if r := m.Devices; r != nil && r.Visible != nil {
		q.pool.allowed = machine.Visible(m.GPUs, *r.Visible)
	}
	if err := q.pool.tooFew(m.Devices); err != nil {
		return nil, err
	}
	if !m.Queue {
		return q, nil
	}
	total := machine.Total
	if c.Total != nil {
		total = c.Total
	}
	var err error
	if q.total, err = total(); err != nil {
		return nil, err
	}
	q.total.GPU += q.pool.total
	return q, neverFits(q.demand, q.total)
}

// try decides once, and enters the queue before the first decision. An error of an
// app that does not queue is final.
func (q *admission) try(enter bool) (verdict, error) {
	v, err := q.decide(enter, false)
	if errors.Is(err, errDead) {
		exe, sweepErr := os.Executable()
		if sweepErr == nil {
			sweepErr = Sweep(q.bundle.home(), exe)
		}
		if sweepErr != nil {
			q.log.Print(sweepErr)
		}
		v, err = q.decide(false, true)
	}
	return v, err
}

// errDead says that apps have to be looked after first: what an agent that died
// left running still uses what the app had.
var errDead = errors.New("an agent died")

// decide needs nobody else's help: it must not wait while it has the lock. Swept
// says that dead agents were looked after. Errors: errDead, *busyError.
func (q *admission) decide(enter, swept bool) (v verdict, err error) {
	if q.manifest.Queue && !enter { // who stands behind another needs no lock to see it
		if behind, err := q.line(false); behind != "" || err != nil {
			return verdict{waiting: behind}, err
		}
	}
	lock, err := lockAdmission(q.bundle.home())
	if err != nil {
		return v, err
	}
	defer lock.Close()
	if q.withdrawn.Load() {
		return v, errors.New("the app has ended")
	}
	if q.manifest.Queue {
		if behind, err := q.line(enter); behind != "" || err != nil {
			return verdict{waiting: behind}, err
		}
	}
	live, dead, err := q.census.take()
	if err != nil {
		return v, err
	}
	if dead && !swept {
		return v, errDead
	}
	if v.waiting = q.shortage(live); v.waiting != "" {
		return v, nil
	}
	c, err := q.lease(live)
	if err != nil {
		return q.refused(err)
	}
	if err := q.take(c); err != nil {
		return v, err
	}
	return verdict{claim: c}, nil
}

// line says whom the app stands behind, "" if it is the first. Nobody overtakes: a
// small app would otherwise keep a large one waiting for ever.
func (q *admission) line(enter bool) (behind string, err error) {
	if enter {
		if err := q.bundle.enqueue(q.manifest.Handle); err != nil {
			return "", err
		}
		failpoint.Hit(failpoint.Enqueued)
	}
	handle, before, err := q.bundle.ahead()
	q.before = before
	if err != nil || handle == "" {
		return "", err
	}
	return queuedPrefix + strings.TrimPrefix("needs "+amounts(q.demand, q.demand)+", behind "+handle, "needs , "), nil
}

// shortage says what is missing beside the admitted apps, "" if nothing.
func (q *admission) shortage(live []party) string {
	if !q.manifest.Queue {
		return ""
	}
	var used machine.Size
	for i := range live {
		if live[i].admitted() {
			used = used.Plus(live[i].demand)
		}
	}
	missing := shortage(q.demand, used, q.total)
	if len(missing) == 0 {
		return ""
	}
	return queuedPrefix + "waits for " + strings.Join(missing, ", ")
}

// refused makes of devices that are not free an error or, in the queue, a reason to wait.
func (q *admission) refused(err error) (verdict, error) {
	var busy *busyError
	if !q.manifest.Queue || !errors.As(err, &busy) {
		return verdict{}, err
	}
	return verdict{waiting: fmt.Sprintf("%swaits for %s (%d of %d free)", queuedPrefix, gpus(busy.want), busy.free, busy.allowed)}, nil
}

// take makes the claim known: it counts from here on.
func (q *admission) take(c *claim) error {
	if err := writeJSON(q.bundle.path(claimFile), c, false); err != nil {
		return fmt.Errorf("write %s: %w", claimFile, err)
	}
	failpoint.Hit(failpoint.Claimed)
	if q.manifest.Queue {
		q.bundle.dequeue()
	}
	return nil
}

// lease chooses devices that no live app has. Errors: *busyError.
func (q *admission) lease(live []party) (*claim, error) {
	c := &claim{Time: time.Now()}
	want := q.manifest.Devices.wanted()
	if want == 0 || q.pool.total < want {
		if want > 0 {
			q.log.Printf("%s stays as planned: the app asks for %s, this machine has %d", q.manifest.Devices.Variable, gpus(want), q.pool.total)
		}
		return c, nil
	}
	holders := map[string]string{}
	for i := range live {
		if live[i].claim == nil {
			continue
		}
		for _, l := range live[i].claim.leases(live[i].key) {
			holders[l.Device] = live[i].handle
		}
	}
	for {
		free := q.pool.free(holders)
		if len(free) < want {
			return nil, q.pool.busy(want, holders)
		}
		c.Devices = q.manifest.Devices.deal(free[:want])
		held := q.record(c, live)
		for _, l := range held {
			holders[l.Device] = spec.Handle{Backend: l.App.Backend, Session: spec.Session, AppID: l.App.ID}.String()
		}
		if len(held) == 0 {
			return c, nil
		}
	}
}

// record enters the claim into the history and returns what stands against it:
// devices of a live app whose folder was deleted. A history that cannot be written
// now is no reason to wait: bundles say who has what.
func (q *admission) record(c *claim, live []party) []history.Lease {
	r := history.LeaseRequest{Own: c.leases(history.AppKey{Backend: q.manifest.Backend, ID: q.manifest.ID})}
	r.Live = append(r.Live, r.Own[0].App)
	for i := range live {
		r.Live = append(r.Live, live[i].key)
		if live[i].claim != nil {
			r.Others = append(r.Others, live[i].claim.leases(live[i].key)...)
		}
	}
	answer := make(chan []history.Lease, 1)
	go func() { answer <- q.enter(r) }()
	select {
	case held := <-answer:
		return held
	case <-time.After(leaseWait):
		q.log.Printf("history was not told of the leases within %v", leaseWait)
		return nil
	}
}

func (q *admission) enter(r history.LeaseRequest) []history.Lease {
	ctx, cancel := context.WithTimeout(context.Background(), leaseWait)
	defer cancel()
	db, err := q.open(ctx)
	if err != nil {
		q.log.Printf("open history: %v", err)
		return nil
	}
	defer db.Close()
	leaser, ok := db.(Leaser)
	if !ok {
		return nil
	}
	held, err := leaser.Lease(ctx, r)
	if err != nil {
		q.log.Printf("record leases: %v", err)
		return nil
	}
	return held
}

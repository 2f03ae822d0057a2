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

// An app that needs exclusive devices, or was submitted with --queue, asks for admission
// before its replicas start. Admission is decided under one lock of the home, from the
// bundles of live apps: a history that is locked, read-only or lost changes nothing. The
// history's leases are updated afterwards.

// leaseWait bounds the wait for the history: other apps wait for the lock meanwhile.
const leaseWait = 2 * time.Second

// spec.QueuedMark starts the wait reason of an app.

// admission decides when one app may start. One goroutine at a time uses it.
type admission struct {
	bundle   Bundle
	manifest *Manifest
	demand   machine.Size
	total    machine.Size
	pool     devicePool
	liveApps *liveAppReader
	open     func(context.Context) (Store, error)
	log      *log.Logger

	position  int         // entries ahead of this app at the last decision
	withdrawn atomic.Bool // the app has ended and must not be admitted
}

// verdict is the result of one decision: the app's allocation, or why it waits.
type verdict struct {
	allocation *allocation
	waitReason string
}

// needsAdmission reports whether an app needs admission at all.
func (m *Manifest) needsAdmission() bool { return m.Queue || m.Devices.count() > 0 }

// newAdmission fails if the app can never be admitted.
func newAdmission(b Bundle, m *Manifest, c Config, l *log.Logger) (*admission, error) {
	ad := &admission{
		bundle: b, manifest: m, demand: resourcesOf(m.App), liveApps: &liveAppReader{self: b}, log: l,
		open: func(ctx context.Context) (Store, error) { return c.OpenStore(ctx, m.Home) },
	}
	ad.pool = devicePool{total: len(m.GPUs), allowed: m.GPUs}
	if r := m.Devices; r != nil && r.Visible != nil {
		ad.pool.allowed = machine.Visible(m.GPUs, *r.Visible)
	}
	if err := ad.pool.checkLimit(m.Devices); err != nil {
		return nil, err
	}
	if !m.Queue {
		return ad, nil
	}
	total := machine.Total
	if c.Total != nil {
		total = c.Total
	}
	var err error
	if ad.total, err = total(); err != nil {
		return nil, err
	}
	ad.total.GPU += ad.pool.total
	return ad, checkCapacity(ad.demand, ad.total)
}

// decideOnce makes one decision; enter adds the app to the queue first. If the app does
// not queue, an error is final.
func (ad *admission) decideOnce(enter bool) (verdict, error) {
	v, err := ad.decide(enter, false)
	if errors.Is(err, errDead) {
		exe, recoverErr := os.Executable()
		if recoverErr == nil {
			recoverErr = RecoverAll(ad.bundle.home(), exe)
		}
		if recoverErr != nil {
			ad.log.Print(recoverErr)
		}
		v, err = ad.decide(false, true)
	}
	return v, err
}

// errDead means that an agent died. Recovery must end its processes first: they still use
// the app's resources.
var errDead = errors.New("an agent died")

// decide must not wait for other processes while it holds the lock. If recovered is true, the
// processes of dead agents have been ended. Errors: errDead, *busyError.
func (ad *admission) decide(enter, recovered bool) (v verdict, err error) {
	if ad.manifest.Queue && !enter { // the lock is needed only at the front
		if waitReason, err := ad.queuePosition(false); waitReason != "" || err != nil {
			return verdict{waitReason: waitReason}, err
		}
	}
	lock, err := lockAdmission(ad.bundle.home())
	if err != nil {
		return v, err
	}
	defer lock.Close()
	if ad.withdrawn.Load() {
		return v, errors.New("the app has ended")
	}
	if ad.manifest.Queue {
		if waitReason, err := ad.queuePosition(enter); waitReason != "" || err != nil {
			return verdict{waitReason: waitReason}, err
		}
	}
	live, dead, err := ad.liveApps.read()
	if err != nil {
		return v, err
	}
	if dead && !recovered {
		return v, errDead
	}
	if v.waitReason = ad.shortageReason(live); v.waitReason != "" {
		return v, nil
	}
	allocated, err := ad.allocate(live)
	if err != nil {
		return ad.explainBusy(err)
	}
	if err := ad.writeAllocation(allocated); err != nil {
		return v, err
	}
	return verdict{allocation: allocated}, nil
}

// queuePosition returns the wait reason if another app is ahead in the queue, else "".
// Apps start in order: otherwise small apps could keep a large one waiting forever.
func (ad *admission) queuePosition(enter bool) (waitReason string, err error) {
	if enter {
		if err := ad.bundle.enqueue(ad.manifest.Handle); err != nil {
			return "", err
		}
		failpoint.Hit(failpoint.Enqueued)
	}
	handle, before, err := ad.bundle.predecessor()
	ad.position = before
	if err != nil || handle == "" {
		return "", err
	}
	return spec.QueuedMark + strings.TrimPrefix("needs "+sizeText(ad.demand, ad.demand)+", behind "+handle, "needs , "), nil
}

// shortageReason returns which resources the admitted apps leave too few of, "" if none.
func (ad *admission) shortageReason(live []liveApp) string {
	if !ad.manifest.Queue {
		return ""
	}
	var used machine.Size
	for i := range live {
		if live[i].admitted() {
			used = used.Plus(live[i].demand)
		}
	}
	missing := missingResources(ad.demand, used, ad.total)
	if len(missing) == 0 {
		return ""
	}
	return spec.QueuedMark + "waits for " + strings.Join(missing, ", ")
}

// explainBusy turns busy devices into a wait reason if the app queues, else an error.
func (ad *admission) explainBusy(err error) (verdict, error) {
	var busy *busyError
	if !ad.manifest.Queue || !errors.As(err, &busy) {
		return verdict{}, err
	}
	return verdict{waitReason: fmt.Sprintf("%swaits for %s (%d of %d free)", spec.QueuedMark, gpuText(busy.want), busy.free, busy.allowed)}, nil
}

// writeAllocation makes the allocation visible to other apps.
func (ad *admission) writeAllocation(allocated *allocation) error {
	if err := WriteJSON(ad.bundle.path(allocationFile), allocated, false); err != nil {
		return fmt.Errorf("write %s: %w", allocationFile, err)
	}
	failpoint.Hit(failpoint.Claimed)
	if ad.manifest.Queue {
		ad.bundle.dequeue()
	}
	return nil
}

// allocate chooses devices that no other live app holds. Errors: *busyError.
func (ad *admission) allocate(live []liveApp) (*allocation, error) {
	allocated := &allocation{Time: time.Now()}
	want := ad.manifest.Devices.count()
	if want == 0 || ad.pool.total < want {
		if want > 0 {
			ad.log.Printf("%s stays as planned: the app asks for %s, this machine has %d",
				ad.manifest.Devices.Variable, gpuText(want), ad.pool.total)
		}
		return allocated, nil
	}
	holders := map[string]string{}
	for i := range live {
		if live[i].allocation == nil {
			continue
		}
		for _, l := range live[i].allocation.leases(live[i].key) {
			holders[l.Device] = live[i].handle
		}
	}
	for {
		free := ad.pool.free(holders)
		if len(free) < want {
			return nil, ad.pool.busy(want, holders)
		}
		allocated.Devices = ad.manifest.Devices.distribute(free[:want])
		held := ad.record(allocated, live)
		for _, l := range held {
			holders[l.Device] = spec.Handle{Backend: l.App.Backend, Session: spec.Session, AppID: l.App.ID}.String()
		}
		if len(held) == 0 {
			return allocated, nil
		}
	}
}

// record writes the allocation to the history and returns leases that conflict with it:
// devices of a live app whose folder was deleted. The app does not wait for a history
// that cannot be written, since bundles say which devices are in use.
func (ad *admission) record(allocated *allocation, live []liveApp) []history.Lease {
	r := history.LeaseRequest{Own: allocated.leases(history.AppKey{Backend: ad.manifest.Backend, ID: ad.manifest.ID})}
	r.Live = append(r.Live, r.Own[0].App)
	for i := range live {
		r.Live = append(r.Live, live[i].key)
		if live[i].allocation != nil {
			r.Others = append(r.Others, live[i].allocation.leases(live[i].key)...)
		}
	}
	answer := make(chan []history.Lease, 1)
	go func() { answer <- ad.recordLeases(r) }()
	select {
	case held := <-answer:
		return held
	case <-time.After(leaseWait):
		ad.log.Printf("leases not recorded in the history within %v", leaseWait)
		return nil
	}
}

func (ad *admission) recordLeases(r history.LeaseRequest) []history.Lease {
	ctx, cancel := context.WithTimeout(context.Background(), leaseWait)
	defer cancel()
	db, err := ad.open(ctx)
	if err != nil {
		ad.log.Printf("open history: %v", err)
		return nil
	}
	defer db.Close()
	leaser, ok := db.(history.Leaser)
	if !ok {
		return nil
	}
	held, err := leaser.Lease(ctx, r)
	if err != nil {
		ad.log.Printf("record leases: %v", err)
		return nil
	}
	return held
}

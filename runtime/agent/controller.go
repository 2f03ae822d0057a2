package agent

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/spec"
)

// Controller is the supervisor of an app that runs other apps instead of replicas. Its manifest
// sets Containers: if it dies, the next command starts another one.
type Controller struct {
	Bundle
	*Manifest
	Log *log.Logger
	// Signals wakes the controller: it then calls Cancelled and Deleted. Without either, it
	// ends, and the next command starts another controller.
	Signals <-chan os.Signal
	Resumed bool // a former controller of this bundle died

	reports
	lock    *os.File // held until the process ends
	clock   clock
	reserve *reserve
}

// Control runs the supervisor process of the bundle in dir and returns its exit code.
func Control(dir string, open StoreOpener, run func(*Controller) error) int {
	return Supervise(func(l *log.Logger) error {
		ready := os.NewFile(readyFD, "ready")
		c, err := newController(Bundle{dir}, open, l)
		if err == nil {
			c.submitter = ready
			err = run(c)
			c.recorder.close()
			err = errors.Join(err, c.lock.Close())
		}
		if err != nil {
			_, _ = ready.Write(readyAnswer{Code: spec.ExitNotStarted, Error: err.Error()}.encode()) // the submitter may be gone
		}
		return err
	})
}

func newController(b Bundle, open StoreOpener, l *log.Logger) (*Controller, error) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	lock := os.NewFile(lockFD, lockFile)
	if lock == nil {
		return nil, errors.New("the lock is missing (start agents with `torchx run`)")
	}
	h, err := readHolder(b.path(lockFile))
	if err != nil {
		return nil, err
	}
	m, err := b.Manifest()
	if err != nil {
		return nil, err
	}
	resumed := h.PID != 0
	h.PID = os.Getpid()
	if err := writeHolder(lock, h); err != nil {
		return nil, err
	}
	return &Controller{
		Bundle: b, Manifest: m, Log: l, Signals: signals, Resumed: resumed, lock: lock, clock: clock{last: m.SubmittedAt}, reserve: newReserve(b, 0),
		reports: reports{recorder: newRecorder(NewHistory(m.Home, open), m.Backend, m.ID, l)},
	}, nil
}

// Cancelled reports whether the user canceled the app, and whether with force.
func (c *Controller) Cancelled() (cancelled, force bool) { return c.cancelRequested() }

// Deleted reports whether the app's folder was deleted.
func (c *Controller) Deleted() bool { return c.supervisor().Deleted() }

// Now returns the time to record, which never goes back.
func (c *Controller) Now() time.Time { return c.clock.at(failpoint.Now()) }

// Ready tells the submitter that the app runs.
func (c *Controller) Ready() {
	if c.submitter == nil {
		return
	}
	_, err := c.submitter.Write(readyAnswer{OK: true}.encode())
	if err = errors.Join(err, c.submitter.Close()); err != nil && !errors.Is(err, syscall.EPIPE) {
		c.Log.Print(err)
	}
	c.submitter = nil
}

// Publish replaces the status of the app, here and in the history.
func (c *Controller) Publish(s *spec.Status) error {
	if c.Deleted() {
		return nil
	}
	err := c.writeStatus(s, false)
	c.recorder.put(s, nil)
	return err
}

// Finish publishes the result of the app.
func (c *Controller) Finish(s *spec.Status) error {
	c.reserve.release()
	failpoint.Hit(failpoint.Ended)
	err := c.Publish(s)
	failpoint.Hit(failpoint.ResultWritten)
	deleted := c.Deleted()
	if err == nil && !deleted {
		err = errors.Join(NoteEnd(c.Home, c.Dir, c.OnEnd, s), c.sync())
		failpoint.Hit(failpoint.EndNoted)
	}
	if err == nil || deleted {
		c.supervisor().RemoveEntry()
	}
	failpoint.Hit(failpoint.HistoryWritten)
	if exe, e := os.Executable(); e == nil && c.OnEnd != nil {
		err = errors.Join(err, RunOnEnd(c.Home, exe))
	}
	return err
}

// Reopen starts the supervisor of an app again that has ended, after prepare has changed its
// bundle. prepare runs while the app has no supervisor, and running is the status from then on.
// Errors: *backend.StartError; filelock.ErrHeld if the supervisor runs.
func (b Bundle) Reopen(exe string, running *spec.Status, prepare func() error) error {
	lock, err := b.supervisor().Acquire(reconcileWait)
	if err != nil {
		return err
	}
	defer lock.Close()
	h, err := readHolder(b.path(lockFile))
	if err != nil {
		return err
	}
	// From here on a kill leaves an app without a supervisor, which the next command starts.
	err = errors.Join(b.writeStatus(running, true), b.enterLive(h))
	for _, name := range []string{cancelFile, killFile, OnEndFolder} {
		err = errors.Join(err, os.RemoveAll(b.path(name)))
	}
	if err == nil {
		err = prepare()
	}
	if err != nil {
		return fmt.Errorf("reopen app: %w", err)
	}
	return Spawn(exe, b, lock, nil)
}

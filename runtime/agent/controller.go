package agent

import (
	"errors"
	"fmt"
	"log"
	"os"
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
	clock   clock
	reserve *reserve
}

// Control runs the supervisor process of the bundle in dir and returns its exit code.
func Control(dir string, open StoreOpener, run func(*Controller) error) int {
	return superviseBundle(dir, func(s *supervision) error {
		c := &Controller{
			Bundle: s.bundle, Manifest: s.manifest, Log: s.log, Signals: s.signals, Resumed: s.replaces, reserve: s.reserve,
			clock: clock{last: s.manifest.SubmittedAt}, reports: reports{submitter: s.ready, recorder: s.newRecorder(open)},
		}
		err := run(c)
		c.recorder.close()
		return err
	})
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

package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// awaitApps asks for admission when the apps of --after have ended as required.
func (a *agent) awaitApps() {
	left := slices.Clone(a.manifest.After)
	if len(left) == 0 {
		a.requestAdmission()
		return
	}
	a.policy.QueueReason, a.reports.dirty = backend.WaitReason(left), true
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		<-a.events.closed
		stop()
	}()
	for _, app := range left {
		go func() {
			err := a.config.Await(ctx, a.manifest, app)
			a.post(func() {
				left = slices.DeleteFunc(left, func(other backend.After) bool { return other == app })
				a.appEnded(left, app, err)
			})
		}()
	}
}

// appEnded acts on the end of an app that this one waited for, or on why it cannot be waited for.
func (a *agent) appEnded(left []backend.After, app backend.After, err error) {
	a.reports.dirty = true
	switch {
	case a.policy.IsDone():
	case err != nil:
		if !errors.As(err, new(*backend.UnmetError)) {
			err = fmt.Errorf("not started: cannot wait for %s: %w", app.App.Handle(), err)
		}
		a.cancelSelf(err.Error())
	case len(left) > 0:
		a.policy.QueueReason = backend.WaitReason(left)
	default:
		a.policy.QueueReason = ""
		a.publish(true) // others then count what the app needs
		a.requestAdmission()
	}
}

// cancelSelf cancels the app for a reason, durably.
func (a *agent) cancelSelf(reason string) {
	a.logError(WriteJSON(a.bundle.path(cancelFile), cancelRequest{time.Now(), reason}, true))
	a.perform(a.policy.Cancel(a.now()))
}

// waitsForApps reports whether the app has not started because it waits for others.
func (b Bundle) waitsForApps() bool {
	s, err := b.Status()
	return err == nil && s.State == spec.Pending && spec.IsAfter(s.Msg)
}

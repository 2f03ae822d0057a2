//go:build unix

package docker

import (
	"context"
	"fmt"
	"syscall"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"golang.org/x/sys/unix"
)

// forever has the engine send the stop signal and leave it at that: the agent
// counts the grace period, for all containers together.
const forever = -1

// send asks a container to end (no name), or sends it a signal. One that has
// ended is fine.
func (l *launcher) send(ctx context.Context, id, name string) (err error) {
	if name == "" {
		timeout := forever
		err = l.engine.ContainerStop(ctx, id, container.StopOptions{Timeout: &timeout})
	} else {
		err = l.engine.ContainerKill(ctx, id, name)
	}
	if errdefs.IsNotFound(err) || errdefs.IsConflict(err) {
		return nil
	}
	return err
}

// signalName is the signal that an exit code of a container stands for, "" for a
// plain one.
func signalName(code int) string {
	if code <= 128 || code > 128+64 {
		return ""
	}
	if name := unix.SignalName(syscall.Signal(code - 128)); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", code-128)
}

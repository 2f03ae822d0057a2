package docker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"

	"torchx/backends/remote"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Exec runs a command in the container of a running replica.
func (b *Backend) Exec(
	ctx context.Context, id string, r spec.Replica, c backend.Command,
) (int, error) {
	engine, target, err := b.runningContainer(ctx, id, r)
	if err != nil {
		return 0, err
	}
	return remote.WithSignals(ctx, c, func(ctx context.Context, c backend.Command, mark string) (int, error) {
		return remote.UntilLost(ctx, c, func(ctx context.Context, c backend.Command) (int, error) {
			return (&execution{engine, c}).run(ctx, target, mark)
		})
	})
}

// runningContainer returns the container of a replica's last attempt. Errors: ErrNotFound,
// ErrNotRunning, ErrUnavailable.
func (b *Backend) runningContainer(
	ctx context.Context, id string, r spec.Replica,
) (*client.Client, container.Summary, error) {
	engine, all, err := b.foreignContainers(ctx, id)
	if err != nil {
		return nil, container.Summary{}, err
	}
	c, _, ok := findAttempt(all, r, nil)
	switch {
	case !ok:
		return nil, c, fmt.Errorf("replica %s/%d of app %s: %w", r.Role, r.ID, id,
			backend.ErrNotFound)
	case c.State != container.StateRunning:
		return nil, c, backend.Errorf(backend.ErrNotRunning,
			"container %s of replica %s/%d does not run (%s)", nameOf(c), r.Role, r.ID, c.Status)
	}
	return engine, c, nil
}

// execution is a command that the engine runs.
type execution struct {
	engine *client.Client
	backend.Command
}

// run starts the command, copies its streams, and returns its exit code.
func (e *execution) run(ctx context.Context, target container.Summary, mark string) (int, error) {
	options := container.ExecOptions{
		Cmd: e.Args, Tty: e.Terminal != nil, AttachStdin: e.Stdin != nil, AttachStdout: true, AttachStderr: true,
	}
	if mark != "" {
		options.Env = append(options.Env, remote.MarkVariable+"="+mark)
	}
	attach := container.ExecAttachOptions{Tty: options.Tty}
	if e.Terminal != nil {
		attach.ConsoleSize = &[2]uint{uint(e.Terminal.Rows), uint(e.Terminal.Cols)}
		options.ConsoleSize = attach.ConsoleSize
		options.Env = append(options.Env, "TERM=xterm")
	}
	created, err := e.engine.ContainerExecCreate(ctx, target.ID, options)
	if err != nil {
		return 0, plain(err)
	}
	conn, err := e.engine.ContainerExecAttach(ctx, created.ID, attach)
	if err != nil {
		return 0, plain(err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, conn.Close) // ends the copy below
	defer stop()
	if e.Stdin != nil {
		go func() {
			_, _ = io.Copy(conn.Conn, e.Stdin) // the command may not read all
			_ = conn.CloseWrite()
		}()
	}
	if e.Terminal != nil {
		ended := make(chan struct{})
		defer close(ended)
		go e.resize(ctx, created.ID, ended)
	}
	refusal, err := e.copyOutput(conn.Reader)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if err != nil {
		return 0, plain(err)
	}
	if refusal != "" {
		return 0, cmp.Or(remote.StartError(e.Args[0], refusal), plain(errors.New(refusal)))
	}
	return e.exitCode(ctx, created.ID)
}

// copyOutput copies the output until the command has ended. If it could not start, the engine says
// so in its output: refusal is that text.
func (e *execution) copyOutput(r io.Reader) (refusal string, err error) {
	stdout := &refusalFilter{w: e.Stdout}
	if e.Terminal != nil {
		_, err = io.Copy(stdout, r)
	} else {
		_, err = stdcopy.StdCopy(stdout, e.Stderr, r)
	}
	return stdout.text.String(), err
}

// refusalFilter keeps the text with which an engine refuses to start a command.
type refusalFilter struct {
	w       io.Writer
	started bool
	text    strings.Builder
}

// refusalMark begins that text, in all versions of runc.
const refusalMark = "OCI runtime exec failed: "

func (f *refusalFilter) Write(p []byte) (int, error) {
	if !f.started && bytes.HasPrefix(p, []byte(refusalMark)) || f.text.Len() > 0 {
		return f.text.Write(p)
	}
	f.started = true
	return f.w.Write(p)
}

// exitPause is the pause between two questions for the exit code: the output ends a moment before
// the engine knows it.
const exitPause = 10 * time.Millisecond

func (e *execution) exitCode(ctx context.Context, id string) (int, error) {
	for {
		state, err := e.engine.ContainerExecInspect(ctx, id)
		if err != nil {
			return 0, plain(err)
		}
		if !state.Running {
			return state.ExitCode, nil
		}
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case <-time.After(exitPause):
		}
	}
}

// resize passes on the sizes of the terminal.
func (e *execution) resize(ctx context.Context, id string, ended <-chan struct{}) {
	size := *e.Terminal // engines before API 1.42 ignore the size at the start
	for {
		_ = e.engine.ContainerExecResize(ctx, id, container.ResizeOptions{Height: uint(size.Rows), Width: uint(size.Cols)}) // fails before the start and after the end
		select {
		case size = <-e.Resizes:
		case <-ended:
			return
		}
	}
}

// SharesPorts returns false: containers have addresses of their own.
func (b *Backend) SharesPorts() bool { return false }

// DialPort connects to a port of a container: at its address if this machine can reach it,
// otherwise where the engine publishes the port.
func (b *Backend) DialPort(
	ctx context.Context, id string, r spec.Replica, port int,
) (net.Conn, error) {
	engine, target, err := b.runningContainer(ctx, id, r)
	if err != nil {
		return nil, err
	}
	c, err := engine.ContainerInspect(ctx, target.ID)
	if err != nil {
		return nil, plain(err)
	}
	if host := engine.DaemonHost(); strings.HasPrefix(host, sshEngine) {
		return dialRemote(ctx, host, c, port)
	}
	addresses, err := addressesOf(engine, c, port)
	if err != nil {
		return nil, err
	}
	if len(addresses) == 0 {
		return nil, errors.New("the container has no address")
	}
	address := addresses[0].HostPort
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("nothing listens at %s: the program must listen on 0.0.0.0, not on 127.0.0.1: %w", address, syscall.ECONNREFUSED)
	}
	return conn, err
}

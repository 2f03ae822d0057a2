package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/remote"
	"torchx/runtime/backend"
	"torchx/runtime/pattern"
	"torchx/runtime/spec"
)

// runningPod returns the running pod of a replica's last attempt. Errors: ErrNotFound,
// ErrNotRunning, ErrUnavailable.
func (b *Backend) runningPod(
	ctx context.Context, id string, r spec.Replica,
) (*target, *corev1.Pod, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	seen, err := t.observe(ctx)
	if err != nil {
		return nil, nil, err
	}
	locate := seen.Locator()
	var last *corev1.Pod
	lastAttempt := -1
	for i := range seen.Pods {
		if found, attempt, ok := locate(&seen.Pods[i]); ok && found == r && attempt > lastAttempt {
			last, lastAttempt = &seen.Pods[i], attempt
		}
	}
	switch {
	case t.hidden != nil:
		return nil, nil, t.hidden
	case last == nil:
		return nil, nil, backend.Errorf(backend.ErrNotRunning,
			"replica %s/%d of app %s has no pod", r.Role, r.ID, id)
	case last.Status.Phase != corev1.PodRunning:
		return nil, nil, backend.Errorf(backend.ErrNotRunning, "pod %s of replica %s/%d does not run (%s)", last.Name, r.Role, r.ID, cmp.Or(string(last.Status.Phase), "Pending"))
	}
	return t, last, nil
}

// Exec runs a command in the main container of a replica's pod.
func (b *Backend) Exec(
	ctx context.Context, id string, r spec.Replica, c backend.Command,
) (int, error) {
	t, pod, err := b.runningPod(ctx, id, r)
	if err != nil {
		return 0, err
	}
	return remote.WithSignals(ctx, c, func(ctx context.Context, c backend.Command, mark string) (int, error) {
		return remote.UntilLost(ctx, c, func(ctx context.Context, c backend.Command) (int, error) {
			return t.execMarked(ctx, pod, c, mark)
		})
	})
}

// execMarked runs a command with a mark, if the image has the programs for that.
func (t *target) execMarked(
	ctx context.Context, pod *corev1.Pod, c backend.Command, mark string,
) (int, error) {
	run := t.exec
	if c.Stdin != nil && c.Terminal == nil {
		run = t.execDrained
	}
	code, err := run(ctx, pod, c, mark)
	var start *backend.StartError
	if errors.As(err, &start) { // the image may have no env or sh
		return t.exec(ctx, pod, c, "")
	}
	return code, err
}

// execDrained runs a command whose input is read to the end.
func (t *target) execDrained(
	ctx context.Context, pod *corev1.Pod, c backend.Command, mark string,
) (int, error) {
	return t.exec(ctx, pod, remote.Drain(c, mark), "")
}

// exec runs a command; with a mark, env adds the variable that pods/exec cannot.
func (t *target) exec(
	ctx context.Context, pod *corev1.Pod, c backend.Command, mark string,
) (int, error) {
	p := kube.PodCommand{
		Namespace: pod.Namespace, Pod: pod.Name, Container: pod.Spec.Containers[0].Name,
		Args: c.Args, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr,
	}
	var environ []string
	if mark != "" {
		environ = append(environ, remote.MarkVariable+"="+mark)
	}
	if c.Terminal != nil {
		p.TTY, p.Stderr = true, nil
		p.Sizes = sizesOf(ctx, c)
		environ = append(environ, "TERM=xterm")
	}
	if mark != "" && !strings.Contains(c.Args[0], "=") { // env would take it for a variable
		p.Args = append(append([]string{"env"}, environ...), c.Args...)
	}
	code, err := t.Exec(ctx, p)
	if err == nil || ctx.Err() != nil {
		return code, err
	}
	if containerEnded().MatchString(err.Error()) {
		return 0, backend.Errorf(backend.ErrNotRunning,
			"container %s of pod %s has ended", p.Container, p.Pod)
	}
	return code, cmp.Or(remote.StartError(p.Args[0], err.Error()), err)
}

// containerEnded matches what kubelet, containerd and CRI-O say about a command in a container
// that has ended.
var containerEnded = pattern.Lazy(`container not found|task \w+ not found|CONTAINER_EXITED|stopped container|container is not running|not in running state`)

// sizesOf returns the sizes of a terminal, the first one first.
func sizesOf(ctx context.Context, c backend.Command) <-chan remotecommand.TerminalSize {
	sizes := make(chan remotecommand.TerminalSize)
	go func() {
		size := *c.Terminal
		for {
			select {
			case sizes <- remotecommand.TerminalSize{Width: size.Cols, Height: size.Rows}:
			case <-ctx.Done():
				return
			}
			select {
			case size = <-c.Resizes:
			case <-ctx.Done():
				return
			}
		}
	}()
	return sizes
}

// SharesPorts returns false: pods have addresses of their own.
func (b *Backend) SharesPorts() bool { return false }

// DialPort connects to a port of a pod through the API server.
func (b *Backend) DialPort(
	ctx context.Context, id string, r spec.Replica, port int,
) (net.Conn, error) {
	t, pod, err := b.runningPod(ctx, id, r)
	if err != nil {
		return nil, err
	}
	s, err := t.DialPod(pod.Namespace, pod.Name, strconv.Itoa(port))
	if errors.Is(err, kube.ErrForbidden) {
		return nil, backend.Errorf(fs.ErrPermission, "%w", err)
	}
	if err != nil {
		return nil, err
	}
	return &podConn{PodStream: s, port: port}, nil
}

// podConn is a net.Conn without deadlines.
type podConn struct {
	*kube.PodStream
	port int
}

// Read explains that nothing listens.
func (c *podConn) Read(p []byte) (int, error) {
	n, err := c.PodStream.Read(p)
	if err != nil && strings.Contains(err.Error(), "connection refused") {
		err = fmt.Errorf("nothing listens at port %d of the pod: %w", c.port, syscall.ECONNREFUSED)
	}
	return n, err
}

func (c *podConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *podConn) RemoteAddr() net.Addr             { return &net.TCPAddr{Port: c.port} }
func (c *podConn) SetDeadline(time.Time) error      { return errors.ErrUnsupported }
func (c *podConn) SetReadDeadline(time.Time) error  { return errors.ErrUnsupported }
func (c *podConn) SetWriteDeadline(time.Time) error { return errors.ErrUnsupported }

package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/httpstream" //nolint:staticcheck // client-go has connections of this type
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
	streaming "k8s.io/streaming/pkg/httpstream"
)

// PodCommand is a command to run in a container.
type PodCommand struct {
	Namespace, Pod, Container string
	Args                      []string
	Stdin                     io.Reader // nil: none
	Stdout, Stderr            io.Writer // Stderr is nil on a terminal
	Sizes                     <-chan remotecommand.TerminalSize
	TTY                       bool
}

// Exec runs a command by the exec subresource, over a WebSocket or, where a server or a proxy does
// not support that, over SPDY. Errors: those of Explain; the exit code is not one.
func (c *Client) Exec(ctx context.Context, p PodCommand) (code int, err error) {
	q := c.rest().Get().AbsPath(append(Pods.path(p.Namespace, p.Pod), "exec")...).Param("container", p.Container).Param("stdout", "true")
	for _, a := range p.Args {
		q = q.Param("command", a)
	}
	for name, set := range map[string]bool{"stdin": p.Stdin != nil, "stderr": p.Stderr != nil, "tty": p.TTY} {
		if set {
			q = q.Param(name, "true")
		}
	}
	err = c.stream(ctx, q.URL(), p)
	if exit, ok := errors.AsType[exec.CodeExitError](err); ok {
		return exit.Code, nil
	}
	return 0, err
}

// Attach connects to the program of a container by the attach subresource, until the program or
// ctx ends; Args are not used. Errors: those of Explain.
func (c *Client) Attach(ctx context.Context, p PodCommand) error {
	q := c.rest().Get().AbsPath(append(Pods.path(p.Namespace, p.Pod), "attach")...).Param("container", p.Container).Param("stdout", "true")
	for name, set := range map[string]bool{"stdin": p.Stdin != nil, "stderr": p.Stderr != nil, "tty": p.TTY} {
		if set {
			q = q.Param(name, "true")
		}
	}
	return c.stream(ctx, q.URL(), p)
}

// stream copies the streams of a command.
func (c *Client) stream(ctx context.Context, at *url.URL, p PodCommand) error {
	executor, err := c.executor(at)
	if err != nil {
		return c.Explain(err)
	}
	o := remotecommand.StreamOptions{Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Tty: p.TTY}
	if p.TTY {
		o.TerminalSizeQueue = sizes{ctx, p.Sizes}
	}
	err = executor.StreamWithContext(quiet(ctx), o)
	var exit exec.CodeExitError
	switch {
	case err == nil, errors.As(err, &exit):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case strings.HasPrefix(err.Error(), nodeFailure):
		return errors.New(clean(strings.ReplaceAll(err.Error(), nodeFailure, "")))
	}
	return c.explainUpgrade(err)
}

// nodeFailure begins what a node says when it cannot run a command; the server repeats it.
const nodeFailure = "Internal error occurred: "

func (c *Client) executor(at *url.URL) (remotecommand.Executor, error) {
	config := rest.CopyConfig(c.now.Load().config)
	first, err := remotecommand.NewWebSocketExecutor(config, http.MethodGet, at.String())
	if err != nil {
		return nil, err
	}
	second, err := remotecommand.NewSPDYExecutor(config, http.MethodPost, at)
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(first, second, isUnsupported)
}

// isUnsupported reports whether a server or a proxy may not support WebSockets.
func isUnsupported(err error) bool {
	return streaming.IsUpgradeFailure(err) || streaming.IsHTTPSProxyError(err)
}

// explainUpgrade explains an error whose cause may be the answer to an upgrade.
func (c *Client) explainUpgrade(err error) error {
	if upgrade, ok := errors.AsType[*streaming.UpgradeFailureError](err); ok {
		err = upgrade.Cause
	}
	if _, text, ok := strings.Cut(err.Error(), refusedUpgrade); ok &&
		strings.Contains(text, " is forbidden: ") {
		err = &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden, Message: text}}
	}
	return c.Explain(err)
}

// refusedUpgrade begins an answer to SPDY of which client-go keeps only the text.
const refusedUpgrade = "unable to upgrade connection: "

// sizes implements remotecommand.TerminalSizeQueue.
type sizes struct {
	ctx context.Context
	c   <-chan remotecommand.TerminalSize
}

func (s sizes) Next() *remotecommand.TerminalSize {
	select {
	case size := <-s.c:
		return &size
	case <-s.ctx.Done():
		return nil
	}
}

// PodStream is a connection to a port of a pod.
type PodStream struct {
	httpstream.Stream
	conn   httpstream.Connection
	failed <-chan error // why the node could not connect; nil at the end
}

// DialPod connects to a port of a pod by the portforward subresource, over a WebSocket or SPDY.
// Errors: those of Explain. That nothing listens is an error of Read.
func (c *Client) DialPod(namespace, pod, port string) (*PodStream, error) {
	at := c.rest().Get().AbsPath(append(Pods.path(namespace, pod), "portforward")...).URL()
	config := rest.CopyConfig(c.now.Load().config)
	first, err := portforward.NewSPDYOverWebsocketDialer(at, config)
	if err != nil {
		return nil, c.Explain(err)
	}
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, c.Explain(err)
	}
	second := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, at)
	conn, _, err := portforward.NewFallbackDialer(first, second, isUnsupported).Dial(portforward.PortForwardProtocolV1Name)
	if err != nil {
		return nil, c.explainUpgrade(err)
	}
	s, err := openStreams(conn, port)
	if err != nil {
		conn.Close()
		return nil, c.Explain(err)
	}
	return s, nil
}

// openStreams opens the two streams of a forwarded connection.
func openStreams(conn httpstream.Connection, port string) (*PodStream, error) {
	headers := http.Header{}
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	headers.Set(corev1.PortHeader, port)
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	failures, err := conn.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	if err := failures.Close(); err != nil { // nothing is sent on it
		return nil, err
	}
	headers.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := conn.CreateStream(headers)
	if err != nil {
		return nil, err
	}
	failed := make(chan error, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(failures, maxFailure))
		if err == nil && len(text) > 0 {
			err = errors.New(clean(string(text)))
		}
		failed <- err
	}()
	return &PodStream{data, conn, failed}, nil
}

// maxFailure bounds the message of a node, in bytes.
const maxFailure = 64 << 10

// Read reads data. At the end it returns why the node could not connect, if that is so.
func (s *PodStream) Read(p []byte) (int, error) {
	n, err := s.Stream.Read(p)
	if errors.Is(err, io.EOF) {
		select {
		case failed := <-s.failed:
			if failed != nil {
				return n, failed
			}
		case <-s.conn.CloseChan():
		}
	}
	return n, err
}

// CloseWrite ends what is sent.
func (s *PodStream) CloseWrite() error { return s.Stream.Close() }

// Close ends the connection.
func (s *PodStream) Close() error { return s.conn.Close() }

package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
)

// reattachPause is the pause before a lost connection is opened again.
const reattachPause = time.Second

// defaultSize is the size of a terminal that no client has set: the cluster creates it without one.
var defaultSize = backend.TerminalSize{Rows: 24, Cols: 80}

// OpenTerminal connects to the terminal of an app's only pod when that runs. Errors: ErrNotFound,
// ErrUnavailable, ErrUnsupported.
func (b *Backend) OpenTerminal(
	ctx context.Context, id string, o backend.TerminalOptions,
) (backend.Terminal, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	first, err := t.awaitAttempt(ctx, -1)
	if err != nil {
		return nil, err
	}
	if first != nil && !first.pod.Spec.Containers[0].TTY {
		return nil, backend.Errorf(backend.ErrUnsupported,
			"app %s has no terminal: it was not started with --tty", id)
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &terminal{
		t: t, o: o, ctx: own, cancel: cancel, output: make(chan backend.TerminalOutput),
		typed: make(chan []byte), resized: make(chan backend.TerminalSize, 1),
	}
	if o.All { // a client without a window sets no size
		c.resized <- defaultSize
	}
	go c.run(first)
	return c, nil
}

// attempt is a pod that has started.
type attempt struct {
	pod    *corev1.Pod
	number int
}

// isOver reports whether the pod's program has ended.
func (a *attempt) isOver() bool {
	return a.pod.Status.Phase == corev1.PodSucceeded || a.pod.Status.Phase == corev1.PodFailed
}

// awaitAttempt returns the first attempt after a number that has started, nil if the app has ended.
func (t *target) awaitAttempt(ctx context.Context, after int) (found *attempt, err error) {
	err = t.follow(ctx, func(seen *observe.Observation) bool {
		locate := seen.Locator()
		for i := range seen.Pods {
			pod := &seen.Pods[i]
			started := slices.Contains([]corev1.PodPhase{corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed}, pod.Status.Phase)
			if _, n, ok := locate(pod); ok && started && n > after &&
				(found == nil || n < found.number) {
				found = &attempt{pod, n}
			}
		}
		return found != nil || seen.Status().State.Terminal()
	})
	return found, err
}

// terminal is a client's connection to the terminal of a pod, and to those of later attempts.
type terminal struct {
	t       *target
	o       backend.TerminalOptions
	ctx     context.Context //nolint:containedctx // of the connection, ended by Close
	cancel  context.CancelFunc
	output  chan backend.TerminalOutput // closed at the end
	failed  error                       // set before output is closed
	typed   chan []byte
	resized chan backend.TerminalSize // the last size that no attempt has
}

// run shows one attempt after the other until the app has ended.
func (c *terminal) run(a *attempt) {
	defer close(c.output)
	for a != nil && c.ctx.Err() == nil {
		if c.failed = c.show(a); c.failed != nil {
			return
		}
		c.o.All = true // of later attempts, all output is new
		if a, c.failed = c.t.awaitAttempt(c.ctx, a.number); c.failed != nil {
			return
		}
	}
}

// show shows an attempt until its end: its log so far, then what it prints.
func (c *terminal) show(a *attempt) error {
	shown, total := &logTail{}, 0
	for first := true; ; first = false {
		var live chan []byte
		result := make(chan error, 1)
		ctx, cancel := context.WithCancel(c.ctx)
		if !a.isOver() {
			live = make(chan []byte, 256)
			go func() { defer close(live); result <- c.attach(ctx, a.pod, live) }()
		}
		count, err := c.showLive(a, live, shown, first)
		cancel()
		if total += count; live == nil || err != nil {
			return err
		}
		err = <-result
		if errors.Is(err, kube.ErrForbidden) || c.ctx.Err() != nil {
			return err
		}
		now, getErr := c.current(a, err)
		switch {
		case errors.Is(getErr, backend.ErrNotFound):
			return nil
		case getErr != nil:
			return getErr
		case now.isOver() && total == 0: // it may have ended before the connection was open
			return c.showLog(now, shown)
		case now.isOver():
			return nil
		}
	}
}

// current reads the pod again after its stream has ended. The pod is over soon, unless the
// connection was lost.
func (c *terminal) current(a *attempt, lost error) (*attempt, error) {
	for try := 0; ; try++ {
		pod := &corev1.Pod{}
		err := c.t.Get(c.ctx, kube.Pods, a.pod.Namespace, a.pod.Name, pod)
		if err == nil && pod.UID != a.pod.UID {
			return nil, backend.ErrNotFound
		}
		now := &attempt{pod, a.number}
		switch {
		case errors.Is(err, backend.ErrNotFound):
			return nil, err
		case err == nil && now.isOver():
			return now, nil
		case err == nil && lost != nil, err == nil && try > 2:
			return now, kube.Sleep(c.ctx, reattachPause)
		}
		if err := kube.Sleep(c.ctx, reattachPause/4); err != nil {
			return nil, err
		}
	}
}

// emit passes output to Next.
func (c *terminal) emit(p []byte, a *attempt) error {
	if len(p) == 0 {
		return nil
	}
	select {
	case c.output <- backend.TerminalOutput{Data: bytes.Clone(p), Attempt: a.number}:
		return nil
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}

// Next waits for output.
func (c *terminal) Next(ctx context.Context) (backend.TerminalOutput, error) {
	select {
	case o, open := <-c.output:
		switch {
		case open:
			return o, nil
		case c.failed != nil:
			return o, fmt.Errorf("%w (the app keeps running)", c.failed)
		}
		return o, io.EOF
	case <-ctx.Done():
		return backend.TerminalOutput{}, ctx.Err()
	}
}

// Write sends input to the pod, or to that of the next attempt.
func (c *terminal) Write(p []byte) (int, error) {
	select {
	case c.typed <- bytes.Clone(p):
		return len(p), nil
	case <-c.ctx.Done():
		return 0, fs.ErrClosed
	}
}

// CloseInput sends EOF characters, again and again.
func (c *terminal) CloseInput() error {
	go func() {
		for pause := backend.MinEOFPause; ; pause = min(2*pause, backend.MaxEOFPause) {
			if _, err := c.Write([]byte{backend.EndOfFile}); err != nil {
				return
			}
			if kube.Sleep(c.ctx, pause) != nil {
				return
			}
		}
	}()
	return nil
}

// Resize sets the size of the terminal when an attempt runs.
func (c *terminal) Resize(size backend.TerminalSize) error {
	select {
	case <-c.resized: // an older one
	default:
	}
	c.keepSize(size)
	return nil
}

// keepSize stores a size for the next reader, unless there is a newer one.
func (c *terminal) keepSize(size backend.TerminalSize) {
	select {
	case c.resized <- size:
	default:
	}
}

// Close ends the connection; the app continues.
func (c *terminal) Close() error {
	c.cancel()
	return nil
}

package kubernetes

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"

	"torchx/backends/kubernetes/kube"
)

const (
	// overlapTime is how long the output that is also in the log read so far may be on its way.
	overlapTime = 100 * time.Millisecond
	// maxOverlap bounds the comparison of the log with the output, in bytes.
	maxOverlap = 64 << 10
	// tailLines is how many lines of the log are read for a client that wants the last screen.
	tailLines = 200
)

// showLive shows the log of an attempt, if it has not been shown, then what live brings; nil is
// an attempt that is over. It returns the bytes of live.
func (c *terminal) showLive(
	a *attempt, live <-chan []byte, shown *logTail, withLog bool,
) (count int, err error) {
	if withLog {
		if err := c.showLog(a, shown); err != nil || live == nil {
			return 0, err
		}
		var early []byte
		for wait := time.After(overlapTime); wait != nil; {
			select {
			case p, open := <-live:
				early = append(early, p...)
				if !open || len(early) > maxOverlap {
					wait = nil
				}
			case <-wait:
				wait = nil
			case <-c.ctx.Done():
				return 0, c.ctx.Err()
			}
		}
		count = len(early)
		if err := c.emit(early[shown.overlap(early):], a); err != nil {
			return count, err
		}
	}
	for p := range live {
		count += len(p)
		if err := c.emit(p, a); err != nil {
			return count, err
		}
	}
	return count, nil
}

// logTail is how much of a log was shown, and its end as the terminal showed it.
type logTail struct {
	size int64
	last []byte
}

// add adds a part of the log and returns it as the terminal showed it: containerd logs the line
// end CR LF of a terminal as LF.
func (l *logTail) add(p []byte) []byte {
	l.size += int64(len(p))
	shown := bytes.ReplaceAll(bytes.ReplaceAll(p, []byte("\r\n"), []byte("\n")),
		[]byte("\n"), []byte("\r\n"))
	l.last = append(l.last, shown...)
	if n := len(l.last) - maxOverlap; n > 0 {
		l.last = append(l.last[:0:0], l.last[n:]...)
	}
	return shown
}

// overlap returns how many bytes at the start of p are the end of the log.
func (l *logTail) overlap(p []byte) int {
	for n := min(len(p), len(l.last)); n > 0; n-- {
		if bytes.HasSuffix(l.last, p[:n]) {
			return n
		}
	}
	return 0
}

// showLog shows what the log of an attempt has after the shown part. A log has a line when it ends.
func (c *terminal) showLog(a *attempt, shown *logTail) error {
	params := map[string]string{"container": a.pod.Spec.Containers[0].Name}
	if !c.o.All {
		params["tailLines"] = strconv.Itoa(tailLines)
	}
	body, err := c.t.Stream(c.ctx, kube.Pods, a.pod.Namespace, a.pod.Name, "log", params)
	if err != nil {
		return nil //nolint:nilerr // without the right to read logs, only new output is shown
	}
	defer body.Close()
	if c.o.All {
		_, err = io.CopyN(io.Discard, body, shown.size)
	}
	buf := make([]byte, 32<<10)
	for err == nil {
		var n int
		n, err = body.Read(buf)
		if e := c.emit(shown.add(buf[:n]), a); e != nil {
			return e
		}
	}
	return nil // whatever ended it: the log has the rest
}

// attach passes the output of a pod's terminal to live, and input and sizes to it.
func (c *terminal) attach(ctx context.Context, pod *corev1.Pod, live chan<- []byte) error {
	sizes := make(chan remotecommand.TerminalSize)
	go func() {
		for {
			select {
			case size := <-c.resized:
				select {
				case sizes <- remotecommand.TerminalSize{Width: size.Cols, Height: size.Rows}:
				case <-ctx.Done():
					c.keepSize(size)
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	out := writerFunc(func(p []byte) (int, error) {
		select {
		case live <- bytes.Clone(p):
			return len(p), nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	})
	return c.t.Attach(ctx, kube.PodCommand{
		Namespace: pod.Namespace, Pod: pod.Name, Container: pod.Spec.Containers[0].Name,
		Stdin: &typedInput{ctx: ctx, from: c.typed}, Stdout: out, TTY: true, Sizes: sizes,
	})
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// typedInput is what clients type during one attempt.
type typedInput struct {
	ctx  context.Context //nolint:containedctx // of the attempt
	from <-chan []byte
	rest []byte
}

func (i *typedInput) Read(p []byte) (int, error) {
	if len(i.rest) == 0 {
		select {
		case i.rest = <-i.from:
		case <-i.ctx.Done():
			return 0, io.EOF
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

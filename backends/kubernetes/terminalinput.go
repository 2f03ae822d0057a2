package kubernetes

import (
	"bytes"
	"context"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/remotecommand"

	"torchx/backends/kubernetes/kube"
)

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

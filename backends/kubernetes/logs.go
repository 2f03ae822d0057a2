package kubernetes

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"

	"torchx/backends"
	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// Logs opens the log of one replica.
func (b *Backend) Logs(ctx context.Context, id string, r spec.Replica, _ backends.LogOptions) (backends.LogReader, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	pods, err := t.pods(ctx)
	if err != nil {
		return nil, err
	}
	for i := range pods {
		p := &pods[i]
		index := p.Labels[label.Replica]
		if index == "" {
			index = p.Labels[label.CompletionIndex]
		}
		if p.Labels[label.Role] == label.Value(r.Role) && index == strconv.Itoa(r.ID) {
			body, err := t.Stream(ctx, kube.Pods, t.namespace, p.Name, "log", nil)
			if err != nil {
				return nil, err
			}
			return &logReader{body, bufio.NewReader(body)}, nil
		}
	}
	return nil, fmt.Errorf("pod of replica %s/%d: %w", r.Role, r.ID, backends.ErrNotFound)
}

type logReader struct {
	io.Closer
	lines *bufio.Reader
}

// Next returns the next line.
func (l *logReader) Next(context.Context) (backends.Block, error) {
	line, err := l.lines.ReadBytes('\n')
	if len(line) > 0 {
		return backends.Block{Stream: backends.Combined, Data: line}, nil
	}
	return backends.Block{}, err
}

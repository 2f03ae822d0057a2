package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/version"

	"torchx/backends/kubernetes/archive"
	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
)

const (
	// splitMinor is the first version 1.x whose servers can tell the streams of a log
	// apart (feature gate PodLogsQuerySplitStreams, alpha and off in it). Older ones
	// ignore the question and send both.
	splitMinor = 32
	// splitProbe is a pod that need not exist: a server checks what is asked for before
	// it looks for the pod.
	splitProbe = "torchx-stream-probe"
)

// checkStream returns the only stream that is asked for, "" for both.
// Errors: ErrInvalidOption.
func checkStream(s backend.Stream) (backend.Stream, error) {
	switch {
	case s == "" || s == backend.Combined:
		return "", nil
	case !slices.Contains(backend.Streams, s):
		return "", backend.Errorf(backend.ErrInvalidOption, "unknown stream %q: use combined, stdout or stderr", s)
	}
	return s, nil
}

// apiStream is a stream's name in PodLogOptions.
func apiStream(s backend.Stream) string {
	return strings.ToUpper(string(s[:1])) + string(s[1:])
}

// checkSplit refuses a single stream where the cluster does not tell them apart, unless
// it did before. Errors: ErrUnsupported, ErrUnavailable.
func (b *Backend) checkSplit(ctx context.Context, t *target, s backend.Stream) error {
	if s == "" || archive.Exists(archive.StreamDir(archive.Dir(b.config.Home, t.id), s)) {
		return nil
	}
	v, err := t.Version(ctx)
	if err != nil {
		return fmt.Errorf("ask for the version of the cluster: %w", err)
	}
	if !canSplit(v) {
		return errNotSplit(s)
	}
	body, err := t.Stream(ctx, kube.Pods, t.namespace, splitProbe, "log", map[string]string{"stream": apiStream(s)})
	switch {
	case err == nil:
		return body.Close()
	case errors.Is(err, backend.ErrNotFound):
		return nil
	case apierrors.IsInvalid(err):
		return errNotSplit(s)
	}
	return fmt.Errorf("ask whether the cluster tells streams apart: %w", err)
}

// canSplit tells whether a server is new enough to know of single streams.
func canSplit(v version.Info) bool {
	minor, err := strconv.Atoi(strings.TrimRight(v.Minor, "+"))
	return err == nil && (v.Major != "1" || minor >= splitMinor)
}

func errNotSplit(s backend.Stream) error {
	return backend.Errorf(backend.ErrUnsupported, "the cluster keeps one log of both streams, %s alone cannot be read: leave out --streams, or redirect the other one in the entry point", s)
}

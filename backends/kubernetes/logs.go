package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/version"

	"torchx/backends/archive"
	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/podarchive"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Logs opens the log of one replica. Lines read from the cluster are archived under
// TORCHX_HOME, so that they can be read after the pods are gone. Errors: ErrNotFound,
// ErrUnavailable, ErrInvalidOption, ErrUnsupported (one stream of a cluster that keeps
// both in one log).
func (b *Backend) Logs(
	ctx context.Context, id string, r spec.Replica, o backend.LogOptions,
) (backend.LogReader, error) {
	var err error
	if o.Stream, err = checkStream(o.Stream); err != nil {
		return nil, err
	}
	if err := b.checkSplit(ctx, id, o.Stream); err != nil {
		return nil, err
	}
	return b.archive(id, o.Stream).Open(ctx, r, o)
}

// OpenRetainedLogs opens a log that Delete kept, or one of an app that another client deleted.
func (b *Backend) OpenRetainedLogs(
	_ context.Context, k *backend.RetainedLogs, r spec.Replica, o backend.LogOptions,
) (backend.LogReader, error) {
	var err error
	if o.Stream, err = checkStream(o.Stream); err != nil {
		return nil, err
	}
	if o.Stream != "" && !podarchive.Exists(podarchive.StreamDir(k.Dir, o.Stream)) {
		return nil, errNotSplit(o.Stream)
	}
	return podarchive.OpenRetained(k, r, b.logs.files, o)
}

// FindLogs returns the archive of an app that the cluster no longer has.
func (b *Backend) FindLogs(
	id string, _ backend.Config, _ string, _ []spec.RoleStatus,
) *backend.RetainedLogs {
	return podarchive.Retained(b.FolderOf(id))
}

// RetainableLogs returns the logs that Delete keeps: the archive, if o asks for it and it exists.
func (b *Backend) RetainableLogs(
	_ context.Context, id string, o backend.DeleteOptions,
) (*backend.RetainedLogs, error) {
	if !o.KeepLogs {
		return nil, nil //nolint:nilnil // having no logs is not an error
	}
	k := podarchive.Retained(b.FolderOf(id))
	if k != nil {
		k.Dir = backend.RetainedDir(b.config.Home, filepath.Base(k.Dir))
	}
	return k, nil
}

// FolderOf returns the folder of an app's archive.
func (b *Backend) FolderOf(id string) string { return archives.Dir(b.config.Home, id) }

// Size returns the bytes of an app's archive; everything else is the cluster's.
func (b *Backend) Size(_ context.Context, id string, o backend.DeleteOptions) (int64, error) {
	if o.KeepLogs {
		return 0, nil
	}
	n, err := archive.Size(b.FolderOf(id), false)
	if err != nil {
		return 0, fmt.Errorf("size of archived logs: %w", err)
	}
	return n, nil
}

// forgetLogs removes the archive of a deleted app, or moves it to the retained logs.
func (b *Backend) forgetLogs(id string, o backend.DeleteOptions) error {
	dir := b.FolderOf(id)
	if o.KeepLogs && podarchive.Exists(dir) {
		return archives.Retain(b.config.Home, dir)
	}
	return archives.Remove(dir)
}

const (
	// splitMinor is the first version 1.x whose servers can separate the streams of a log
	// (feature gate PodLogsQuerySplitStreams, alpha and off in it). Older ones ignore the
	// parameter and send both.
	splitMinor = 32
	// splitProbe names a pod that need not exist: a server checks the parameters first.
	splitProbe = "torchx-stream-probe"
)

// checkStream returns the requested stream, "" for both.
// Errors: ErrInvalidOption.
func checkStream(s backend.Stream) (backend.Stream, error) {
	switch {
	case s == "" || s == backend.Combined:
		return "", nil
	case !slices.Contains(backend.Streams, s):
		return "", backend.Errorf(backend.ErrInvalidOption,
			"unknown stream %q: use combined, stdout or stderr", s)
	}
	return s, nil
}

// apiStream returns a stream's name in PodLogOptions.
func apiStream(s backend.Stream) string {
	return strings.ToUpper(string(s[:1])) + string(s[1:])
}

// checkSplit refuses a single stream where the cluster keeps both in one log, unless the
// archive has it. Errors: ErrUnsupported, ErrUnavailable.
func (b *Backend) checkSplit(ctx context.Context, id string, s backend.Stream) error {
	if s == "" || podarchive.Exists(podarchive.StreamDir(b.FolderOf(id), s)) {
		return nil
	}
	t, err := b.target(ctx, id)
	if err != nil {
		return err
	}
	v, err := t.Version(ctx)
	if err != nil {
		return fmt.Errorf("read the version of the cluster: %w", err)
	}
	if !canSplit(v) {
		return errNotSplit(s)
	}
	body, err := t.Stream(ctx, kube.Pods, t.namespace, splitProbe, "log",
		map[string]string{"stream": apiStream(s)})
	switch {
	case err == nil:
		return body.Close()
	case errors.Is(err, backend.ErrNotFound):
		return nil
	case apierrors.IsInvalid(err):
		return errNotSplit(s)
	}
	return fmt.Errorf("check whether the cluster separates streams: %w", err)
}

// canSplit reports whether a server is new enough to separate streams.
func canSplit(v version.Info) bool {
	minor, err := strconv.Atoi(strings.TrimRight(v.Minor, "+"))
	return err == nil && (v.Major != "1" || minor >= splitMinor)
}

func errNotSplit(s backend.Stream) error {
	return backend.Errorf(backend.ErrUnsupported, "%s alone cannot be read, the cluster keeps both streams in one log: leave out --streams, or redirect the other stream in the entry point", s)
}

// OutputOf returns where the outputs of an app are: as its pods mount them, or by the options
// of its submission if the cluster no longer has the app or does not answer. Errors:
// ErrNotFound.
func (b *Backend) OutputOf(ctx context.Context, id string) (*backend.Output, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	a, err := t.find(ctx)
	var volume manifest.Volume
	var ok bool
	if err == nil {
		volume, ok = manifest.OutputOf(a.pods())
	} else {
		volume, ok = manifest.OutputOption(t.cfg, t.name)
	}
	switch {
	case ok:
		return &backend.Output{Place: volume.String(), Kept: true, Read: reader(t.namespace, volume)}, nil
	case err != nil:
		return nil, err
	}
	return nil, backend.Errorf(backend.ErrNotFound,
		"app %s has no output folder: it was submitted without -cfg output=pvc:CLAIM", id)
}

// reader returns the command that lists a folder of a claim: only a pod can read it.
func reader(namespace string, v manifest.Volume) string {
	type object = map[string]any
	overrides, _ := json.Marshal(object{"spec": object{ // plain values cannot fail
		"volumes": []object{{"name": "o", "persistentVolumeClaim": object{"claimName": v.Claim}}},
		"containers": []object{{
			"name": "reader", "image": "busybox", "command": []string{"ls", "-lR", "/o"},
			"volumeMounts": []object{{"name": "o", "mountPath": "/o", "subPath": v.Folder, "readOnly": true}},
		}},
	}})
	quoted := "'" + strings.ReplaceAll(string(overrides), "'", `'\''`) + "'"
	return fmt.Sprintf("kubectl -n %s run reader --rm -i --restart=Never --image=busybox --overrides=%s", namespace, quoted)
}

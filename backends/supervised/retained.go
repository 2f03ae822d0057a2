package supervised

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/logstore"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Values of RetainedLogs.Layout.
const (
	layoutKept = "kept" // as in the replicas folder of a bundle
	layoutUser = "user" // as below the log_dir option
)

// logsToKeep returns what Delete moves out of a bundle: nil if logs are not kept, or the
// bundle has none.
func (a *Apps) logsToKeep(bundle agent.Bundle, o backend.DeleteOptions) *agent.Keep {
	if info, err := os.Stat(filepath.Join(bundle.Dir, logstore.ReplicasFolder)); !o.KeepLogs ||
		err != nil || !info.IsDir() {
		return nil
	}
	return &agent.Keep{Folder: logstore.ReplicasFolder, To: backend.RetainedDir(a.Home, filepath.Base(bundle.Dir))}
}

// RetainableLogs returns the logs that Delete keeps. It always keeps those of a log_dir.
func (a *Apps) RetainableLogs(
	ctx context.Context, id string, o backend.DeleteOptions,
) (*backend.RetainedLogs, error) {
	s, err := a.Describe(ctx, id)
	if err != nil {
		return nil, err
	}
	bundle := a.Bundle(id)
	l, err := a.readLayout(bundle)
	if err != nil {
		return nil, fmt.Errorf("read app %s: %w", id, err)
	}
	k := &backend.RetainedLogs{Dir: l.Dir, Layout: layoutUser}
	if !l.User {
		keep := a.logsToKeep(bundle, o)
		if keep == nil {
			return nil, nil //nolint:nilnil // having none is not an error
		}
		k.Dir, k.Layout = keep.To, layoutKept
	}
	k.Roles = retainedRoles(s.Roles)
	return k, nil
}

// UserLogs returns the logs of an app in a folder that the user chose; nil if the folder
// does not exist.
func UserLogs(dir string, roles []spec.RoleStatus) *backend.RetainedLogs {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil
	}
	return &backend.RetainedLogs{Dir: dir, Layout: layoutUser, Roles: retainedRoles(roles)}
}

func retainedRoles(roles []spec.RoleStatus) []backend.RetainedRole {
	var kept []backend.RetainedRole
	for _, role := range roles {
		r := backend.RetainedRole{Role: role.Role, Attempts: make([]int, len(role.Replicas))}
		for i := range role.Replicas {
			r.Attempts[i] = startedAttempts(&role.Replicas[i])
		}
		kept = append(kept, r)
	}
	return kept
}

// startedAttempts returns how many attempts of a replica have started.
func startedAttempts(r *spec.ReplicaStatus) int {
	if r.StartedAt != nil {
		return r.Attempt + 1
	}
	return r.Attempt
}

// OpenRetainedLogs opens a log that Delete kept.
func (a *Apps) OpenRetainedLogs(
	_ context.Context, k *backend.RetainedLogs, r spec.Replica, o backend.LogOptions,
) (backend.LogReader, error) {
	attempts, ok := k.Attempts(r)
	if !ok {
		return nil, fmt.Errorf("replica %s/%d: %w", r.Role, r.ID, backend.ErrNotFound)
	}
	return logstore.Open(logstore.Source{
		Dir: func(attempt int) string {
			if k.Layout == layoutUser {
				return Layout{k.Dir, true}.ReplicaDir(r, attempt)
			}
			return filepath.Join(k.Dir, safefile.Escape(r.Role), strconv.Itoa(r.ID),
				strconv.Itoa(attempt))
		},
		State: func() (int, bool, error) { return attempts, true, nil },
		Hub:   a.hub,
	}, o)
}

// FindLogs returns nil: the logs of apps are in their bundles.
func (a *Apps) FindLogs(string, backend.Config, string, []spec.RoleStatus) *backend.RetainedLogs {
	return nil
}

// readLayout returns the layout of an app's logs.
func (a *Apps) readLayout(bundle agent.Bundle) (Layout, error) {
	m, err := bundle.Manifest()
	if err != nil {
		return Layout{}, err
	}
	return a.Layout(m)
}

// Size returns the disk usage of a bundle that Delete would free, in bytes, without a log_dir.
func (a *Apps) Size(_ context.Context, id string, o backend.DeleteOptions) (int64, error) {
	bundle := a.Bundle(id)
	if !bundle.Exists() || !a.Has(id) {
		return 0, fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
	}
	keep := a.logsToKeep(bundle, o)
	var total int64
	err := filepath.WalkDir(bundle.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return ignoreUnreadable(err)
		}
		if keep != nil && path == filepath.Join(bundle.Dir, keep.Folder) {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return ignoreUnreadable(err)
		}
		total += diskBytes(info)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("size of app %s: %w", id, err)
	}
	return total, nil
}

// ignoreUnreadable returns nil for a file that was deleted meanwhile, and for a folder of
// outputs that another user's container made private.
func ignoreUnreadable(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

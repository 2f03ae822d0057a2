package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"torchx/backends"
	"torchx/runtime/agent"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

var (
	_ backends.Sizer     = (*Backend)(nil)
	_ backends.LogKeeper = (*Backend)(nil)
)

// replicasFolder is the folder of a bundle that has the logs, and keptFolder the
// one of a home for logs that outlive their bundle.
const (
	replicasFolder = "replicas"
	keptFolder     = "logs"
)

// Words of KeptLogs.Layout.
const (
	layoutKept = "kept" // as in the folder replicas of a bundle
	layoutUser = "user" // as below the log_dir option
)

// keep says what Delete moves out of a bundle: nothing if logs are not kept, or
// there are none in it.
func (b *Backend) keep(bundle agent.Bundle, o backends.DeleteOptions) *agent.Keep {
	if info, err := os.Stat(filepath.Join(bundle.Dir, replicasFolder)); !o.KeepLogs || err != nil || !info.IsDir() {
		return nil
	}
	return &agent.Keep{Folder: replicasFolder, To: b.freeLogs(filepath.Base(bundle.Dir))}
}

// freeLogs is a name for the logs of an app; earlier apps with the same id may
// have left theirs.
func (b *Backend) freeLogs(folder string) string {
	path := filepath.Join(b.config.Home, keptFolder, folder)
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return path
		}
		path = filepath.Join(b.config.Home, keptFolder, folder+"+"+strconv.Itoa(n)) // '+' is in no folder's name
	}
}

// Keeps tells which logs stay: those of a log_dir always do.
func (b *Backend) Keeps(_ context.Context, id string, o backends.DeleteOptions) (*backends.KeptLogs, error) {
	s, err := b.inspect(id)
	if err != nil {
		return nil, err
	}
	bundle := b.bundle(id)
	l, err := readLayout(bundle)
	if err != nil {
		return nil, fmt.Errorf("read app %s: %w", id, err)
	}
	k := &backends.KeptLogs{Dir: l.logDir, Layout: layoutUser}
	if !l.user {
		keep := b.keep(bundle, o)
		if keep == nil {
			return nil, nil //nolint:nilnil // none is no error
		}
		k.Dir, k.Layout = keep.To, layoutKept
	}
	for _, role := range s.Roles {
		r := backends.KeptRole{Role: role.Role, Attempts: make([]int, len(role.Replicas))}
		for i := range role.Replicas {
			r.Attempts[i] = begun(&role.Replicas[i])
		}
		k.Roles = append(k.Roles, r)
	}
	return k, nil
}

// begun is how many attempts of a replica have started.
func begun(r *spec.ReplicaStatus) int {
	if r.StartedAt != nil {
		return r.Attempt + 1
	}
	return r.Attempt
}

// Kept opens a log that Delete left.
func (b *Backend) Kept(_ context.Context, k *backends.KeptLogs, r spec.Replica, o backends.LogOptions) (backends.LogReader, error) {
	attempts := -1
	for _, role := range k.Roles {
		if role.Role == r.Role && r.ID >= 0 && r.ID < len(role.Attempts) {
			attempts = role.Attempts[r.ID]
		}
	}
	if attempts < 0 {
		return nil, fmt.Errorf("replica %s/%d: %w", r.Role, r.ID, backends.ErrNotFound)
	}
	return logstore.Open(logstore.Source{
		Dir: func(attempt int) string {
			if k.Layout == layoutUser {
				return layout{k.Dir, true}.replicaDir(r, attempt)
			}
			return filepath.Join(k.Dir, agent.Escape(r.Role), strconv.Itoa(r.ID), strconv.Itoa(attempt))
		},
		State: func() (int, bool, error) { return attempts, true, nil },
		Hub:   b.hub,
	}, o)
}

// readLayout tells where an app's logs are.
func readLayout(bundle agent.Bundle) (layout, error) {
	m, err := bundle.Manifest()
	if err != nil {
		return layout{}, err
	}
	var request struct {
		LogDir string `json:"log_dir"`
	}
	if err := json.Unmarshal(m.Request, &request); err != nil {
		return layout{}, err
	}
	return layoutOf(m, request.LogDir), nil
}

// Size adds up what the files of a bundle take; those of a log_dir are the user's.
func (b *Backend) Size(_ context.Context, id string, o backends.DeleteOptions) (int64, error) {
	bundle := b.bundle(id)
	if !bundle.Exists() {
		return 0, fmt.Errorf("app %s: %w", id, backends.ErrNotFound)
	}
	keep := b.keep(bundle, o)
	var total int64
	err := filepath.WalkDir(bundle.Dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return skipGone(err)
		}
		if keep != nil && path == filepath.Join(bundle.Dir, keep.Folder) {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil {
			return skipGone(err)
		}
		total += diskBytes(info)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("size of app %s: %w", id, err)
	}
	return total, nil
}

// skipGone takes a file that was deleted meanwhile for none.
func skipGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

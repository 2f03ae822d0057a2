// Package provenance finds out which state of a git checkout an app is submitted from.
//
//	Find      reports whether a folder is in a checkout, without git
//	Collect   returns commit, branch, remote, changed files and the diff
//	Pending   the folder of a process that collects; readers wait for it (Wait)
//
// Collect runs the git program, but nothing that a checkout names: a repository's own
// configuration can name programs (fsmonitor, filters, hooks, diff drivers, remotes). With that
// configuration git is only asked for paths, the commit and the settings (repository). Files are
// compared in a scratch repository, which shares index and objects with the real one and has a
// few harmless settings of it (scratch). Submodules are not entered.
package provenance

import (
	"context"
	"os"
	"path/filepath"

	"torchx/runtime/history"
)

// Find reports whether a folder is in a git checkout.
func Find(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// Options are the options of Collect.
type Options struct {
	Env     []string // "K=V": PATH, HOME and git's own variables are used
	Scratch string   // an empty folder for temporary files; the caller removes it
	Diff    bool     // also return the diff
}

// Collect returns the state of the checkout that has dir, and its diff by gzip; nil if there is
// none, or it is too large. If ctx ends, it returns what it knows. Errors: there is no git, no
// checkout or no commit, or git refuses to read it, as one of another user.
func Collect(ctx context.Context, dir string, o Options) (*history.Checkout, []byte, error) {
	r, err := openRepository(ctx, dir, o.Env)
	if err != nil {
		return nil, nil, err
	}
	c := &history.Checkout{Root: r.root, Commit: r.commit, Branch: r.branch, Remote: StripCredentials(r.remote())}
	s, err := newScratch(r, o)
	if err != nil {
		return c, nil, nil //nolint:nilerr // whether it is dirty stays unknown
	}
	return c, s.read(ctx, c, o.Diff), nil
}

// read completes c by what has changed, and returns the diff if it is wanted. What cannot be read
// stays unknown.
func (s *scratch) read(ctx context.Context, c *history.Checkout, wantDiff bool) []byte {
	if err := s.readStatus(ctx, c); err == nil && c.Changed > 0 && wantDiff {
		return s.readDiff(ctx, c)
	}
	return nil
}

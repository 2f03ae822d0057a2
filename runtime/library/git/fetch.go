package git

import (
	"context"
	"fmt"
	"strings"
)

// got is the name that a fetched branch or tag has in our own repository.
const got = "refs/torchx/got"

// Repository is a bare repository with one fetched commit.
type Repository struct {
	client *Client
	dir    string
	Commit string // in hexadecimal
}

// Fetch gets one commit of a repository into dir, an empty folder: the commit of that
// name if it is not "", else the one that revision (a tag, a branch, a whole or
// shortened commit) means now. Its history is left out where the server can do that.
// Errors: *UnknownRevisionError, ErrOffline, and what git says, in one line.
func (c *Client) Fetch(ctx context.Context, dir, repository, revision, commit string) (*Repository, error) {
	if err := c.allowed(repository); err != nil {
		return nil, err
	}
	r := &Repository{client: c, dir: dir}
	if commit == "" && IsHash(revision) {
		commit = revision
	}
	if commit != "" {
		return r, r.fetchCommit(ctx, repository, commit)
	}
	remote, err := c.Look(ctx, repository)
	if err != nil {
		return nil, err
	}
	ref, ok := remote.find(revision)
	switch {
	case ok:
		return r, r.fetchRef(ctx, repository, ref, len(remote.Refs[ref]))
	case isShortened(revision):
		return r, r.fetchShortened(ctx, repository, revision, remote)
	}
	return nil, &UnknownRevisionError{revision, remote.Names()}
}

// isShortened holds for what can be the begin of a commit's name.
func isShortened(text string) bool {
	return len(text) >= 4 && len(text) < 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// init makes the repository, for names of objects with that many digits.
func (r *Repository) init(ctx context.Context, digits int) error {
	args := []string{"init", "--quiet", "--bare", "--template="}
	if digits == 64 {
		args = append(args, "--object-format=sha256")
	}
	_, err := r.client.run(ctx, r.dir, args...)
	return err
}

func (r *Repository) fetch(ctx context.Context, repository string, depth string, refspecs ...string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"}
	if depth != "" {
		args = append(args, "--depth="+depth)
	}
	cmd := r.client.command(ctx, r.dir, append(append(args, "--", repository), refspecs...)...)
	cmd.Env = r.client.withSSH(ctx, cmd.Env, repository)
	_, err := r.client.output(ctx, cmd)
	return err
}

// everything is what a repository has of branches and tags.
var everything = []string{"+refs/heads/*:refs/torchx/heads/*", "+refs/tags/*:refs/torchx/tags/*"}

func (r *Repository) fetchRef(ctx context.Context, repository, ref string, digits int) error {
	if err := r.init(ctx, digits); err != nil {
		return err
	}
	if err := r.fetch(ctx, repository, "1", "+"+ref+":"+got); err != nil {
		return err
	}
	return r.resolve(ctx, got)
}

// fetchCommit asks for one commit, and for everything where the server does not hand
// out single commits.
func (r *Repository) fetchCommit(ctx context.Context, repository, commit string) error {
	if err := r.init(ctx, len(commit)); err != nil {
		return err
	}
	if r.fetch(ctx, repository, "1", "+"+commit+":"+got) == nil {
		return r.resolve(ctx, commit)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.fetch(ctx, repository, "", everything...); err != nil {
		return err
	}
	if err := r.resolve(ctx, commit); err != nil {
		return &UnknownRevisionError{Revision: commit}
	}
	return nil
}

// maxRefs bounds the branches and tags that are fetched to find a shortened commit.
const maxRefs = 20_000

// fetchShortened fetches everything: only then the whole name can be found.
func (r *Repository) fetchShortened(ctx context.Context, repository, revision string, remote *Remote) error {
	if len(remote.Refs) > maxRefs {
		return fmt.Errorf("it has %d branches and tags, too many to find a shortened commit in: give the whole commit", len(remote.Refs))
	}
	digits := 40
	for _, object := range remote.Refs {
		digits = len(object)
	}
	if err := r.init(ctx, digits); err != nil {
		return err
	}
	if err := r.fetch(ctx, repository, "", everything...); err != nil {
		return err
	}
	if err := r.resolve(ctx, revision); err != nil {
		return &UnknownRevisionError{revision, remote.Names()}
	}
	return nil
}

// resolve finds the commit that name means; name is hexadecimal or one of our own.
func (r *Repository) resolve(ctx context.Context, name string) error {
	out, err := r.client.run(ctx, r.dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return fmt.Errorf("%s is no commit: %w", name, err)
	}
	r.Commit = strings.TrimSpace(string(out))
	if !IsHash(r.Commit) {
		return fmt.Errorf("git names the commit %q", r.Commit)
	}
	return nil
}

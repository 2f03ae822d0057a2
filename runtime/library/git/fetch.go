package git

import (
	"context"
	"fmt"
	"strings"
)

// fetchedRef is the local name of a fetched branch or tag.
const fetchedRef = "refs/torchx/got"

// Repository is a bare repository with one fetched commit.
type Repository struct {
	client *Client
	dir    string
	Commit string // in hexadecimal
}

// Fetch fetches one commit of a repository into dir, an empty folder: the given commit or, if
// it is "", the current commit of revision (a tag, a branch, a full or short commit ID). It
// omits the history if the server supports that. Errors: *UnknownRevisionError, ErrOffline, or
// git's message in one line.
func (c *Client) Fetch(
	ctx context.Context, dir, repository, revision, commit string,
) (*Repository, error) {
	if err := c.checkOnline(repository); err != nil {
		return nil, err
	}
	r := &Repository{client: c, dir: dir}
	if commit == "" && IsHash(revision) {
		commit = revision
	}
	if commit != "" {
		return r, r.fetchCommit(ctx, repository, commit)
	}
	remote, err := c.ListRefs(ctx, repository)
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

// isShortened reports whether text can be the start of a commit ID.
func isShortened(text string) bool {
	return len(text) >= 4 && len(text) < 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// init creates the repository, for object IDs with a number of digits.
func (r *Repository) init(ctx context.Context, digits int) error {
	args := []string{"init", "--quiet", "--bare", "--template="}
	if digits == 64 {
		args = append(args, "--object-format=sha256")
	}
	_, err := r.client.run(ctx, r.dir, args...)
	return err
}

func (r *Repository) fetch(
	ctx context.Context, repository string, depth string, refspecs ...string,
) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"}
	if depth != "" {
		args = append(args, "--depth="+depth)
	}
	cmd := r.client.command(ctx, r.dir, append(append(args, "--", repository), refspecs...)...)
	cmd.Env = r.client.withSSH(ctx, cmd.Env, repository)
	_, err := r.client.output(ctx, cmd)
	return err
}

// allRefs fetches all branches and tags of a repository.
var allRefs = []string{"+refs/heads/*:refs/torchx/heads/*", "+refs/tags/*:refs/torchx/tags/*"}

func (r *Repository) fetchRef(ctx context.Context, repository, ref string, digits int) error {
	if err := r.init(ctx, digits); err != nil {
		return err
	}
	if err := r.fetch(ctx, repository, "1", "+"+ref+":"+fetchedRef); err != nil {
		return err
	}
	return r.resolve(ctx, fetchedRef)
}

// fetchCommit fetches one commit, or everything if the server does not serve single commits.
func (r *Repository) fetchCommit(ctx context.Context, repository, commit string) error {
	if err := r.init(ctx, len(commit)); err != nil {
		return err
	}
	if r.fetch(ctx, repository, "1", "+"+commit+":"+fetchedRef) == nil {
		return r.resolve(ctx, commit)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.fetch(ctx, repository, "", allRefs...); err != nil {
		return err
	}
	if err := r.resolve(ctx, commit); err != nil {
		return &UnknownRevisionError{Revision: commit}
	}
	return nil
}

// maxRefs bounds the branches and tags that are fetched to find a short commit ID.
const maxRefs = 20_000

// fetchShortened fetches everything, which is needed to find the full ID.
func (r *Repository) fetchShortened(
	ctx context.Context, repository, revision string, remote *Remote,
) error {
	if len(remote.Refs) > maxRefs {
		return fmt.Errorf("it has %d branches and tags, too many to find a shortened commit: give the whole commit", len(remote.Refs))
	}
	digits := 40
	for _, object := range remote.Refs {
		digits = len(object)
	}
	if err := r.init(ctx, digits); err != nil {
		return err
	}
	if err := r.fetch(ctx, repository, "", allRefs...); err != nil {
		return err
	}
	if err := r.resolve(ctx, revision); err != nil {
		return &UnknownRevisionError{revision, remote.Names()}
	}
	return nil
}

// resolve sets the commit that name refers to; name is hexadecimal or a local ref.
func (r *Repository) resolve(ctx context.Context, name string) error {
	out, err := r.client.run(ctx, r.dir, "rev-parse", "--verify", "--quiet",
		"--end-of-options", name+"^{commit}")
	if err != nil {
		return fmt.Errorf("%s is not a commit: %w", name, err)
	}
	r.Commit = strings.TrimSpace(string(out))
	if !IsHash(r.Commit) {
		return fmt.Errorf("git printed the commit %q", r.Commit)
	}
	return nil
}

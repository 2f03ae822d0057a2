package git

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Remote is what a repository calls its commits.
type Remote struct {
	Head string            // the branch of HEAD, "" if there is none
	Refs map[string]string // "refs/tags/v1" → object, in hexadecimal
}

// Look asks a repository for its branches and tags.
func (c *Client) Look(ctx context.Context, repository string) (*Remote, error) {
	if err := c.allowed(repository); err != nil {
		return nil, err
	}
	cmd := c.command(ctx, "", "ls-remote", "--symref", "--", repository)
	cmd.Env = c.withSSH(ctx, cmd.Env, repository)
	out, err := c.output(ctx, cmd)
	if err != nil {
		return nil, err
	}
	r := &Remote{Refs: map[string]string{}}
	for line := range strings.Lines(string(out)) {
		object, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		branch, symbolic := strings.CutPrefix(object, "ref: refs/heads/")
		switch {
		case !ok:
		case symbolic && ref == "HEAD":
			r.Head = branch
		case IsHash(object):
			r.Refs[ref] = object
		}
	}
	return r, nil
}

// find returns the full name of a branch or tag, a tag first, as git does.
func (r *Remote) find(revision string) (ref string, ok bool) {
	for _, ref := range []string{"refs/tags/" + revision, "refs/heads/" + revision, revision} {
		if _, ok := r.Refs[ref]; ok && (ref == "HEAD" || strings.HasPrefix(ref, "refs/")) {
			return ref, true
		}
	}
	return "", false
}

// Resolve returns the commit that a revision means now; "" where only what is fetched
// can tell. Errors: ErrOffline, and what git says, in one line.
func (c *Client) Resolve(ctx context.Context, repository, revision string) (string, error) {
	if IsHash(revision) {
		return revision, nil
	}
	remote, err := c.Look(ctx, repository)
	if err != nil {
		return "", err
	}
	ref, _ := remote.find(revision)
	if commit := remote.Refs[ref+"^{}"]; commit != "" { // of a tag with a message
		return commit, nil
	}
	return remote.Refs[ref], nil
}

// Names lists branches and tags as people write them, sorted.
func (r *Remote) Names() []string {
	return r.names("refs/tags/", "refs/heads/")
}

// Tags lists the tags, sorted.
func (r *Remote) Tags() []string { return r.names("refs/tags/") }

func (r *Remote) names(prefixes ...string) []string {
	var names []string
	for ref := range r.Refs {
		for _, prefix := range prefixes {
			if name, ok := strings.CutPrefix(ref, prefix); ok && !strings.HasSuffix(name, "^{}") {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// allowed refuses to leave this machine when that is not wanted.
func (c *Client) allowed(repository string) error {
	if c.Offline && !strings.HasPrefix(repository, "file://") {
		return ErrOffline
	}
	return nil
}

// withSSH keeps ssh from asking for passwords, unless the user chose how to call it.
func (c *Client) withSSH(ctx context.Context, env []string, repository string) []string {
	u, err := url.Parse(repository)
	if err != nil || u.Scheme != "ssh" || slices.ContainsFunc(env, choosesSSH) {
		return env
	}
	if out, err := c.run(ctx, "", "config", "--get", "core.sshCommand"); err == nil && len(out) > 0 {
		return env
	}
	return append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
}

func choosesSSH(kv string) bool {
	name, value, _ := strings.Cut(kv, "=")
	return (name == "GIT_SSH" || name == "GIT_SSH_COMMAND") && value != ""
}

// IsHash holds for the whole name of an object, by SHA-1 or SHA-256.
func IsHash(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// UnknownRevisionError says that a repository has no such branch, tag or commit.
type UnknownRevisionError struct {
	Revision string
	Known    []string // branches and tags
}

func (e *UnknownRevisionError) Error() string {
	return fmt.Sprintf("it has no branch, tag or commit %s", e.Revision)
}

package git

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Remote holds the branches and tags of a repository.
type Remote struct {
	Head string            // the branch of HEAD; may be ""
	Refs map[string]string // "refs/tags/v1" → object, in hexadecimal
}

// ListRefs returns the branches and tags of a repository.
func (c *Client) ListRefs(ctx context.Context, repository string) (*Remote, error) {
	if err := c.checkOnline(repository); err != nil {
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

// find returns the full name of a tag or branch; tags come first, as in git.
func (r *Remote) find(revision string) (ref string, ok bool) {
	for _, ref := range []string{"refs/tags/" + revision, "refs/heads/" + revision, revision} {
		if _, ok := r.Refs[ref]; ok && (ref == "HEAD" || strings.HasPrefix(ref, "refs/")) {
			return ref, true
		}
	}
	return "", false
}

// Resolve returns the current commit of a revision; "" if only a fetch can determine it.
// Errors: ErrOffline, or git's message in one line.
func (c *Client) Resolve(ctx context.Context, repository, revision string) (string, error) {
	if IsHash(revision) {
		return revision, nil
	}
	remote, err := c.ListRefs(ctx, repository)
	if err != nil {
		return "", err
	}
	ref, _ := remote.find(revision)
	if commit := remote.Refs[ref+"^{}"]; commit != "" { // an annotated tag
		return commit, nil
	}
	return remote.Refs[ref], nil
}

// Names returns the short names of branches and tags, sorted.
func (r *Remote) Names() []string {
	return r.names("refs/tags/", "refs/heads/")
}

// Tags returns the tags, sorted.
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

// checkOnline returns ErrOffline if the client is offline and the repository is remote.
func (c *Client) checkOnline(repository string) error {
	if c.Offline && !strings.HasPrefix(repository, "file://") {
		return ErrOffline
	}
	return nil
}

// withSSH makes ssh never prompt, unless the user configured the ssh command.
func (c *Client) withSSH(ctx context.Context, env []string, repository string) []string {
	u, err := url.Parse(repository)
	if err != nil || u.Scheme != "ssh" || slices.ContainsFunc(env, setsSSH) {
		return env
	}
	if out, err := c.run(ctx, "", "config", "--get", "core.sshCommand"); err == nil && len(out) > 0 {
		return env
	}
	return append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
}

func setsSSH(kv string) bool {
	name, value, _ := strings.Cut(kv, "=")
	return (name == "GIT_SSH" || name == "GIT_SSH_COMMAND") && value != ""
}

// IsHash reports whether text is a full object ID, SHA-1 or SHA-256.
func IsHash(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// UnknownRevisionError means that a repository does not have the branch, tag or commit.
type UnknownRevisionError struct {
	Revision string
	Known    []string // branches and tags
}

func (e *UnknownRevisionError) Error() string {
	return fmt.Sprintf("it has no branch, tag or commit %s", e.Revision)
}

package provenance

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"torchx/runtime/safefile"
)

// repository is what git says about a checkout without looking at its files.
type repository struct {
	root, dir      string // the top folder, and that of git
	objects, index string
	exclude        string // info/exclude; need not exist
	commit, branch string // branch "": a detached HEAD

	settings map[string]string // by key; of several values the last
	remotes  []string          // names, in order
}

// openRepository asks git about the checkout that has dir. These commands run no programs and
// read no files of the checkout.
func openRepository(ctx context.Context, dir string, env []string) (*repository, error) {
	g := git{dir: dir, env: userEnv(env)}
	out, err := g.output(ctx, "rev-parse", "--show-toplevel", "--absolute-git-dir",
		"--git-path", "objects", "--git-path", "index", "--git-path", "info/exclude", "HEAD", "--symbolic-full-name", "HEAD")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 7 { // a path with a line break
		return nil, errors.New("unexpected output of git rev-parse")
	}
	for i := range lines[:5] {
		if !filepath.IsAbs(lines[i]) {
			lines[i] = filepath.Join(dir, lines[i])
		}
	}
	r := &repository{root: lines[0], dir: lines[1], objects: lines[2], index: lines[3], exclude: lines[4], commit: lines[5]}
	r.branch, _ = strings.CutPrefix(lines[6], "refs/heads/")
	if r.branch == "HEAD" {
		r.branch = ""
	}
	if err := r.checkRoot(dir); err != nil {
		return nil, err
	}
	out, err = g.output(ctx, "config", "--null", "--list")
	r.readSettings(out)
	return r, err
}

// checkRoot returns an error if the top folder, which core.worktree can set, does not have dir.
func (r *repository) checkRoot(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(r.root, real); err != nil || below != "." &&
		!filepath.IsLocal(below) {
		return errors.New("the folder is not in the work tree of its repository")
	}
	return nil
}

// readSettings reads the output of git config --null --list: KEY, a line break and the value.
func (r *repository) readSettings(out []byte) {
	r.settings = map[string]string{}
	for record := range bytes.SplitSeq(out, []byte{0}) {
		key, value, ok := strings.Cut(string(record), "\n")
		if !ok { // as in [core] filemode
			value = "true"
		}
		name, isRemote := strings.CutPrefix(key, "remote.")
		if name, ok := strings.CutSuffix(name, ".url"); ok && isRemote {
			if slices.Contains(r.remotes, name) {
				continue // git fetches from the first
			}
			r.remotes = append(r.remotes, name)
		}
		r.settings[key] = value
	}
}

// remote returns the URL that the branch is fetched from, else that of origin or of the first
// remote; "" without remotes.
func (r *repository) remote() string {
	names := append([]string{r.settings["branch."+r.branch+".remote"], "origin"}, r.remotes...)
	for _, name := range names {
		if url := r.settings["remote."+name+".url"]; url != "" {
			return url
		}
	}
	return ""
}

// harmless are the settings that tell how files compare with the index.
var harmless = []string{
	"core.autocrlf", "core.eol", "core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode", "core.checkstat", "core.trustctime",
}

// harmlessSettings returns git's options for the harmless settings. env tells where git
// expects the user's own patterns of ignored files.
func (r *repository) harmlessSettings(env []string) []string {
	var args []string
	for _, key := range harmless {
		if value, ok := r.settings[key]; ok {
			args = append(args, "-c", key+"="+value)
		}
	}
	home := variable(env, "HOME")
	excludes := cmp.Or(variable(env, "XDG_CONFIG_HOME"), filepath.Join(home, ".config")) + "/git/ignore"
	if path, ok := r.settings["core.excludesfile"]; ok {
		excludes = path
		if expanded, err := safefile.ExpandHome(path, home); err == nil {
			excludes = expanded
		}
	}
	return append(args, "-c", "core.excludesFile="+excludes)
}

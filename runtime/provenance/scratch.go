package provenance

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/runtime/history"
	"torchx/runtime/safefile"
)

// Bounds of what is kept of a checkout.
const (
	maxNames   = 20      // of changed, and of untracked files
	maxPath    = 1 << 20 // bytes; a longer one ends the reading
	maxExclude = 1 << 20 // bytes of info/exclude
)

// fixed are settings that bound the memory of git and leave the processors to others. Larger
// files count as binary, so that git does not load them.
var fixed = []string{
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.attributesFile=" + os.DevNull,
	"-c", "core.preloadIndex=false", "-c", "index.threads=1", "-c", "core.bigFileThreshold=16m",
	"-c", "core.packedGitWindowSize=32m", "-c", "core.packedGitLimit=256m", "-c", "core.deltaBaseCacheLimit=32m",
}

// scratch is a repository that has the commit, the index, the objects and the files of another
// one, but not its configuration.
type scratch struct{ git }

func newScratch(r *repository, o Options) (*scratch, error) {
	dir := filepath.Join(o.Scratch, "git")
	config := "[core]\n\trepositoryformatversion = 1\n\tbare = false\n"
	if len(r.commit) == 64 {
		config += "[extensions]\n\tobjectFormat = sha256\n"
	}
	exclude, err := safefile.ReadInput(r.exclude, maxExclude)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, name := range []string{"refs", "info", "objects"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return nil, err
		}
	}
	for name, content := range map[string]string{"HEAD": r.commit + "\n", "config": config, "info/exclude": string(exclude)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	// The parts of a split index are beside HEAD.
	parts, _ := filepath.Glob(filepath.Join(escapeGlob(r.dir), "sharedindex.*")) // only an invalid pattern is an error
	for _, part := range parts {
		if err := os.Symlink(part, filepath.Join(dir, filepath.Base(part))); err != nil {
			return nil, err
		}
	}
	env := append(slices.Clone(offline), "PATH="+variable(o.Env, "PATH"), "HOME="+o.Scratch, "XDG_CONFIG_HOME="+o.Scratch,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_DIR="+dir, "GIT_WORK_TREE="+r.root, "GIT_INDEX_FILE="+r.index, "GIT_OBJECT_DIRECTORY="+r.objects)
	return &scratch{git{dir: r.root, env: env, args: append(slices.Clone(fixed), r.harmlessSettings(o.Env)...)}}, nil
}

// escapeGlob returns a path as a pattern that matches only itself.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// readStatus counts changed and untracked files.
func (s *scratch) readStatus(ctx context.Context, c *history.Checkout) error {
	err := s.stream(ctx, func(r io.Reader) error {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxPath)
		lines.Split(splitNUL)
		for lines.Scan() {
			if name, ok := strings.CutPrefix(lines.Text(), "?? "); ok {
				count(&c.Untracked, &c.UntrackedFiles, name)
			} else if len(lines.Text()) > 3 {
				count(&c.Changed, &c.Files, lines.Text()[3:])
			}
		}
		return lines.Err()
	}, "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=dirty")
	if dirty := c.Changed+c.Untracked > 0; dirty || err == nil {
		c.Dirty = &dirty
	}
	return err
}

func count(n *int, names *[]string, name string) {
	if *n++; len(*names) < maxNames {
		*names = append(*names, strings.ToValidUTF8(name, "\uFFFD"))
	}
}

// splitNUL splits at NUL bytes.
func splitNUL(data []byte, _ bool) (int, []byte, error) {
	for i, b := range data {
		if b == 0 {
			return i + 1, data[:i], nil
		}
	}
	return 0, nil, nil
}

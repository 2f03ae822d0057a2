// Package git gets files out of git repositories with the git program, so that what
// users have set up for it (proxies, keys, credential helpers) works.
//
// Nothing of a repository is executed or checked out: an empty bare repository
// without hooks and submodules takes one commit, and its files are read as git
// stores them, whatever its attributes say of filters, line ends and exports. git
// asks nothing, and reaches out by https, ssh and file only. What comes from a user
// stands behind "--"; URLs and revisions must be checked by the caller as well.
package git

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Bounds of what a git command may print where all of it is kept, in bytes.
const (
	maxOutput   = 64 << 20
	maxMessages = 1 << 20
)

// endTime is how long an interrupted git may take before it is killed.
const endTime = 3 * time.Second

// Client runs the git program.
type Client struct {
	Program string   // "": git
	Env     []string // "K=V", what git inherits
	Offline bool     // refuse what needs the network
}

// ErrOffline says that the network would be needed.
var ErrOffline = errors.New("--offline forbids to fetch it")

// options are those of every git command: no hooks, even of the user's own, nothing
// that goes on in the background or asks, and an end for a server that hangs.
var options = []string{
	"-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.fsmonitor=false",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	"-c", "fetch.recurseSubmodules=false",
	"-c", "submodule.recurse=false",
	"-c", "transfer.bundleURI=false",
	"-c", "credential.interactive=false",
	"-c", "http.lowSpeedLimit=1000",
	"-c", "http.lowSpeedTime=60",
}

// local are variables that would lead git to another repository; they are set where
// torchx is started by a hook. The list is that of `git rev-parse --local-env-vars`.
var local = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
	"GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
	"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR",
	"GIT_NAMESPACE", "GIT_TEMPLATE_DIR", "GIT_QUARANTINE_PATH", "GIT_EXEC_PATH",
}

// environment is what a git command inherits.
func (c *Client) environment() []string {
	var env []string
	for _, kv := range c.Env {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(local, name) {
			env = append(env, kv)
		}
	}
	protocols := "https:ssh:file"
	if c.Offline { // a rewritten URL must not get out either
		protocols = "file"
	}
	return append(env, "GIT_ALLOW_PROTOCOL="+protocols, "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C", "LANGUAGE=")
}

// command is a git command on the repository dir, or on none.
func (c *Client) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	program := c.Program
	if program == "" {
		program = "git"
	}
	all := slices.Clone(options)
	if dir != "" {
		all = append(all, "--git-dir="+dir)
	}
	cmd := exec.CommandContext(ctx, program, append(all, args...)...)
	cmd.Env = c.environment()
	cmd.Dir = dir
	if dir == "" { // not in a repository, whose configuration would count
		cmd.Dir = filepath.VolumeName(os.TempDir()) + string(filepath.Separator)
	}
	cmd.WaitDelay = endTime
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
	return cmd
}

// run runs a git command to its end and returns what it printed.
func (c *Client) run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return c.output(ctx, c.command(ctx, dir, args...))
}

func (c *Client) output(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	stdout, stderr := &limited{max: maxOutput, end: true}, &limited{max: maxMessages}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case stdout.full:
		return nil, fmt.Errorf("git printed over %d MiB", maxOutput>>20)
	case err != nil:
		return nil, failure(err, stderr.String())
	}
	return stdout.Bytes(), nil
}

// stream runs a git command and has read take what it prints as it comes. An error of
// read ends the command.
func (c *Client) stream(ctx context.Context, cmd *exec.Cmd, read func(out *bufio.Reader) error) error {
	stderr := &limited{max: maxMessages}
	cmd.Stderr = stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return failure(err, "")
	}
	if err := read(bufio.NewReaderSize(stdout, 64<<10)); err != nil {
		_ = cmd.Process.Kill() // it may still have much to say
		_ = cmd.Wait()
		return cmp.Or(context.Cause(ctx), err)
	}
	if err := cmd.Wait(); err != nil {
		return cmp.Or(context.Cause(ctx), failure(err, stderr.String()))
	}
	return nil
}

// limited keeps at most max bytes and drops what comes behind, or ends with an error.
type limited struct {
	bytes.Buffer
	max  int
	end  bool
	full bool
}

func (l *limited) Write(p []byte) (int, error) {
	if room := l.max - l.Len(); len(p) > room {
		l.full = true
		l.Buffer.Write(p[:room])
		if l.end {
			return room, io.ErrShortWrite
		}
		return len(p), nil
	}
	return l.Buffer.Write(p)
}

// failure makes one line of what a git command said before it failed.
func failure(err error, said string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("the program git is not found: install it, libraries are fetched with it")
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("git cannot be started: %w", err)
	}
	if line := telling(said); line != "" {
		return errors.New(line + advice(said))
	}
	return fmt.Errorf("git failed: %w", err)
}

// telling is the line that says most: the first that git calls fatal or an error, but
// where that only reports the end of another program, what that one said.
func telling(said string) string {
	var lines []string
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "warning:") && !strings.HasPrefix(line, "hint:") {
			lines = append(lines, line)
		}
	}
	for i, line := range lines {
		text, ok := strings.CutPrefix(line, "fatal: ")
		if !ok {
			text, ok = strings.CutPrefix(line, "error: ")
		}
		if !ok {
			continue
		}
		if i > 0 && strings.HasPrefix(text, "Could not read from remote") {
			return strings.TrimPrefix(lines[i-1], "fatal: ")
		}
		return text
	}
	if len(lines) > 0 {
		return lines[len(lines)-1]
	}
	return ""
}

// advice tells what to do about a few common failures.
func advice(said string) string {
	switch {
	case strings.Contains(said, "could not read Username"), strings.Contains(said, "could not read Password"):
		return " (it needs a login: set up a credential helper of git, or use an ssh:// URL)"
	case strings.Contains(said, "Permission denied (publickey"):
		return " (is your key known there, and in your ssh agent?)"
	case strings.Contains(said, "Host key verification failed"):
		return " (connect to the host with ssh once, to accept its key)"
	}
	return ""
}

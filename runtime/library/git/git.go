// Package git fetches files from git repositories with the git program, so that users'
// settings (proxies, keys, credential helpers) apply.
//
// It executes nothing of a repository and checks nothing out: an empty bare repository without
// hooks and submodules fetches one commit, and files are read as git stores them, regardless of
// attributes for filters, line ends and exports. git never prompts, and connects only by https,
// ssh and file. User input comes after "--"; callers must check URLs and revisions as well.
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

// Bounds of the output of a git command that is kept in memory, in bytes.
const (
	maxOutput   = 64 << 20
	maxMessages = 1 << 20
)

// endTime is how long git may take to end after SIGTERM before it is killed.
const endTime = 3 * time.Second

// Client runs the git program.
type Client struct {
	Program string   // "": git
	Env     []string // "K=V", inherited by git
	Offline bool     // reject operations that need the network
}

// ErrOffline means that the operation needs the network.
var ErrOffline = errors.New("--offline forbids fetching it")

// options apply to every git command: no hooks, not even the user's, no background work, no
// prompts, and a time limit for servers that hang.
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

// localVariables would redirect git to another repository; they are set if a hook starts
// torchx. The list is from `git rev-parse --local-env-vars`.
var localVariables = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
	"GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
	"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR",
	"GIT_NAMESPACE", "GIT_TEMPLATE_DIR", "GIT_QUARANTINE_PATH", "GIT_EXEC_PATH",
}

// environment returns the environment of git commands.
func (c *Client) environment() []string {
	var env []string
	for _, kv := range c.Env {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(localVariables, name) {
			env = append(env, kv)
		}
	}
	protocols := "https:ssh:file"
	if c.Offline { // a rewritten URL must not use the network either
		protocols = "file"
	}
	return append(env, "GIT_ALLOW_PROTOCOL="+protocols, "GIT_TERMINAL_PROMPT=0", "GCM_INTERACTIVE=never",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C", "LANGUAGE=")
}

// command returns a git command on the repository dir, or on none.
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
	if dir == "" { // outside of repositories, whose configuration would apply
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

// run runs a git command and returns its output.
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

// stream runs a git command and passes its output to read as it is printed. An error of read
// ends the command.
func (c *Client) stream(
	ctx context.Context, cmd *exec.Cmd, read func(out *bufio.Reader) error,
) error {
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
		_ = cmd.Process.Kill() // it may still be printing
		_ = cmd.Wait()
		return cmp.Or(context.Cause(ctx), err)
	}
	if err := cmd.Wait(); err != nil {
		return cmp.Or(context.Cause(ctx), failure(err, stderr.String()))
	}
	return nil
}

// limited keeps at most max bytes. It drops the rest or, if end is set, returns an error.
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

// failure returns one line with the most relevant message of a failed git command.
func failure(err error, messages string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("git is not found: install it to fetch libraries")
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("git cannot be started: %w", err)
	}
	if line := mainMessage(messages); line != "" {
		return errors.New(line + advice(messages))
	}
	return fmt.Errorf("git failed: %w", err)
}

// mainMessage returns the most relevant line: the first that git marks as fatal or an error;
// if that only reports the failure of another program, that program's message.
func mainMessage(messages string) string {
	var lines []string
	for line := range strings.Lines(messages) {
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

// advice returns a remedy for some common failures.
func advice(messages string) string {
	switch {
	case strings.Contains(messages, "could not read Username"), strings.Contains(messages, "could not read Password"):
		return " (it needs a login: set up a credential helper of git, or use an ssh:// URL)"
	case strings.Contains(messages, "Permission denied (publickey"):
		return " (is your key known there, and in your ssh agent?)"
	case strings.Contains(messages, "Host key verification failed"):
		return " (connect to the host with ssh once, to accept its key)"
	}
	return ""
}

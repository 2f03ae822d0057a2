package provenance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// maxOutput bounds the answers of git that are kept in memory, in bytes.
const maxOutput = 4 << 20

// killTime is how long a killed git may keep its pipes open.
const killTime = time.Second

var errTooLarge = errors.New("git printed too much")

// git runs the git program in one folder.
type git struct {
	dir  string
	env  []string
	args []string // before the command
}

// offline forbids git to prompt, to fetch and to write; the last two names have no effect in
// older versions of git.
var offline = []string{
	"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "LANGUAGE=",
	"GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
}

// userVariables are git's variables that the user may set; others would lead git to another
// repository, as in a hook, or make it run programs.
var userVariables = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM"}

// userEnv returns the environment of git with the user's own configuration.
func userEnv(env []string) []string {
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "GIT_") && !slices.Contains(userVariables, name)
	})
	return append(kept, offline...)
}

// variable returns the value of a variable, "" if it is not set.
func variable(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// output returns what a command prints.
func (g *git) output(ctx context.Context, args ...string) ([]byte, error) {
	var out bytes.Buffer
	err := g.stream(ctx, func(r io.Reader) error {
		if n, err := io.Copy(&out, io.LimitReader(r, maxOutput)); err != nil || n == maxOutput {
			return errTooLarge
		}
		return nil
	}, args...)
	return out.Bytes(), err
}

// stream runs a command and passes what it prints to read, whose error ends the command.
func (g *git) stream(ctx context.Context, read func(io.Reader) error, args ...string) error {
	cmd := exec.CommandContext(ctx, "git",
		slices.Concat([]string{"--no-pager", "--no-optional-locks"}, g.args, args)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = g.dir, g.env, killTime
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	limitMemory(cmd.Process.Pid)
	if err = read(out); err != nil {
		_ = cmd.Process.Kill() // it may be printing
		_ = cmd.Wait()         // the first error is returned
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("git %s: %w", args[0], err)
	}
	return nil
}

// Package client runs Slurm's commands and turns their errors into one line with a remedy. It
// keeps no state, and asks for any number of jobs in one call.
package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"torchx/runtime/backend"
)

// Client runs the commands that its environment's PATH finds.
type Client struct {
	Environ []string // "K=V"; nil: this process's own
	Offline bool     // the user forbids the network
}

// Times that bound commands: those of Slurm wait half a minute for a controller that listens and
// does not answer, and a minute with an unreadable slurm.conf.
const (
	readTime   = 10 * time.Second // Slurm's MessageTimeout unless slurm.conf says another
	cancelTime = 10 * time.Second
	// accountTime is longer: a database with many jobs is slow.
	accountTime = 12 * time.Second
	// submitTime is above Slurm's own limit: the request of an sbatch that was killed may still be
	// carried out.
	submitTime = 45 * time.Second
)

// timeOf returns the time that bounds a command.
func timeOf(name string) time.Duration {
	switch name {
	case "sbatch":
		return submitTime
	case "sacct", "sacctmgr":
		return accountTime
	case "scancel":
		return cancelTime
	}
	return readTime
}

// private lists the variables by which users change what Slurm's commands print or select.
var private = []string{"SQUEUE_", "SACCT_", "SINFO_", "SCONTROL_", "SLURM_TIME_FORMAT=", "SLURM_JSON=", "SLURM_YAML=", "SLURM_BITSTR_LEN=", "SLURM_DEBUG_FLAGS="}

// Run runs a command and returns what it printed to stdout. Errors: ErrUnavailable,
// ErrNotFound, *Error.
func (c *Client) Run(
	ctx context.Context, stdin io.Reader, name string, args ...string,
) ([]byte, error) {
	path, environ, err := c.find(name)
	if err != nil {
		return nil, unsentError{err}
	}
	limit := timeOf(name)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTooSlow)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer watchController(ctx, name, environ, stop)()
	cmd := exec.CommandContext(ctx, path, args...)
	var stdout, stderr bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environ, stdin, &stdout, &stderr
	dieWithParent(cmd)
	cmd.WaitDelay = time.Second // for what a wrapper script leaves running
	err = cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return stdout.Bytes(), nil
	case errors.Is(context.Cause(ctx), errTooSlow):
		return nil, tooSlow(name, limit, stderr.String())
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return nil, unsentError{fmt.Errorf("run %s: %w", name, err)}
	}
	return stdout.Bytes(), explain(name, stderr.String())
}

var errTooSlow = errors.New("too slow")

// tooSlow returns the error of a command that was ended after its time.
func tooSlow(name string, limit time.Duration, stderr string) error {
	what, fix := "Slurm's controller", fixPing
	if limit == accountTime {
		what, fix = "the accounting service slurmdbd", fixAdmin
	}
	why := fmt.Sprintf("%s does not answer: %s did not end within %v", what, name, limit)
	if text := plainText(stderr, ""); text != "" {
		why += ": " + text
	}
	return backend.Errorf(backend.ErrUnavailable, "%s", withFix(why, fix))
}

// find returns the path of a command, and the environment to run it with. Errors: ErrUnavailable.
func (c *Client) find(name string) (path string, environ []string, err error) {
	if c.Offline {
		return "", nil, backend.Errorf(backend.ErrUnavailable,
			"the cluster cannot be reached: --offline forbids the network")
	}
	environ = c.Environ
	if environ == nil {
		environ = os.Environ()
	}
	for _, dir := range filepath.SplitList(variable(environ, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path, err := exec.LookPath(filepath.Join(dir, name))
		switch {
		case err != nil:
		case name == "sbatch": // the job gets it
			return path, environ, nil
		default:
			return path, cleaned(environ), nil
		}
	}
	return "", nil, backend.Errorf(backend.ErrUnavailable, "the command %s is not in PATH (use a login node of the cluster, load its module, or install slurm-client)", name)
}

// variable returns the last value of a variable.
func variable(environ []string, name string) (value string) {
	for _, kv := range environ {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			value = v
		}
	}
	return value
}

// cleaned returns the environment without private variables, and with messages in English.
func cleaned(environ []string) []string {
	environ = slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		return slices.ContainsFunc(private, func(p string) bool { return strings.HasPrefix(kv, p) })
	})
	return append(environ, "LC_ALL=C")
}

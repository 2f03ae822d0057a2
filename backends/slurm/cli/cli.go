// Package cli runs Slurm's commands (sbatch, squeue, sacct, scontrol, scancel, sinfo). Each has a
// time limit, and its failure is one line with the remedy.
package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"torchx/runtime/backend"
)

// Timeout bounds a command. Slurm's commands retry by themselves for most of a minute when the
// controller is busy.
const Timeout = 75 * time.Second

// Commands runs Slurm's commands in an environment.
type Commands struct {
	Environ []string // "K=V"; PATH finds the commands
	Dir     string   // working folder; "": that of this process
}

// Error is the failure of a command.
type Error struct {
	Command string // name, without arguments
	Code    int    // exit code; -1 if it has none
	Text    string // what it printed to stderr, one line
	class   error
}

// Error implements error.
func (e *Error) Error() string { return e.Command + ": " + e.Text }

// Unwrap returns backend.ErrUnavailable if Slurm cannot be reached, else nil.
func (e *Error) Unwrap() error { return e.class }

// Run runs a command and returns what it prints. Errors: *Error, which is
// backend.ErrUnavailable if the command or the controller is missing or does not answer; the
// error of ctx.
func (c Commands) Run(ctx context.Context, name string, args ...string) ([]byte, error) {
	return c.Input(ctx, nil, name, args...)
}

// Input is Run with data for the command's stdin.
func (c Commands) Input(ctx context.Context, stdin []byte, name string, args ...string) ([]byte, error) {
	path, err := c.Find(name)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, path, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = c.Environ, c.Dir, 2*time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, &Error{name, -1, fmt.Sprintf("no answer within %v (see `scontrol ping`)", Timeout), backend.ErrUnavailable}
	case err == nil:
		return stdout.Bytes(), nil
	case cmd.ProcessState == nil:
		return nil, &Error{name, -1, err.Error(), backend.ErrUnavailable}
	}
	e := &Error{Command: name, Code: cmd.ProcessState.ExitCode(), Text: message(stderr.String(), err)}
	if isUnreachable(e.Text) {
		e.class = backend.ErrUnavailable
		e.Text += " (see `scontrol ping`; ask the cluster's administrators if the controller is down)"
	}
	return stdout.Bytes(), e
}

// Find returns the path of a command. Errors: *Error with backend.ErrUnavailable.
func (c Commands) Find(name string) (string, error) {
	search := ""
	for _, e := range c.Environ {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			search = v
		}
	}
	for _, dir := range filepath.SplitList(search) {
		path := filepath.Join(dir, name)
		if !filepath.IsAbs(path) {
			continue
		}
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", &Error{name, -1, "command not found (run torchx on a login node of the cluster, or load its Slurm module)", backend.ErrUnavailable}
}

// IsMissing reports whether an error says that a command is not installed.
func IsMissing(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == -1 && strings.HasPrefix(e.Text, "command not found")
}

// isUnreachable reports whether a message says that the controller does not answer, in which
// case the command has probably changed nothing.
func isUnreachable(text string) bool {
	for _, part := range []string{
		"Unable to contact slurm controller", "Connection refused", "Connection timed out", "Socket timed out",
		"Zero Bytes were transmitted", "cannot stat file", "Unable to establish configuration source",
		"Unable to process configuration file", "Munge encode failed", "slurm_persist_conn_open", "DNS SRV lookup failed",
		"Slurm backup controller in standby mode", "Controller is in standby mode",
	} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// message returns the lines of a command's stderr as one line, without what Slurm repeats.
func message(stderr string, err error) string {
	var lines []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"sbatch: ", "squeue: ", "sacct: ", "scontrol: ", "scancel: ", "sinfo: ", "slurm_load_jobs error: ", "error: ", "fatal: "} {
			line = strings.TrimPrefix(line, prefix)
		}
		if line != "" && (len(lines) == 0 || lines[len(lines)-1] != line) {
			lines = append(lines, line)
		}
	}
	var exit *exec.ExitError
	if len(lines) == 0 && errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return "ended by " + status.Signal().String()
		}
		return fmt.Sprintf("exit code %d", exit.ExitCode())
	}
	if len(lines) == 0 {
		return err.Error()
	}
	const most = 4 // a command may retry for a long time
	if len(lines) > most {
		lines = lines[len(lines)-most:]
	}
	return strings.Join(lines, "; ")
}

// Version returns the major and minor version of Slurm's commands, such as 22, 5; err is
// fs.ErrInvalid if sbatch prints something else.
func (c Commands) Version(ctx context.Context) (major, minor int, err error) {
	out, err := c.Run(ctx, "sbatch", "--version")
	if err != nil {
		return 0, 0, err
	}
	if _, err := fmt.Sscanf(strings.TrimSpace(string(out)), "slurm %d.%d", &major, &minor); err != nil {
		return 0, 0, fmt.Errorf("version of Slurm: %q: %w", out, fs.ErrInvalid)
	}
	return major, minor, nil
}

//go:build unix

// Package inside runs commands beside a replica that is a process of this machine: with its
// environment and in its folder.
package inside

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"

	"torchx/runtime/backend"
	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

// Place is where a command runs.
type Place struct {
	Env []string // "K=V"
	Dir string   // absolute
}

// Run runs a command and returns its exit code. The command is a process group of its own, which
// ends with ctx. Errors: *backend.StartError.
func Run(ctx context.Context, p Place, c backend.Command) (int, error) {
	path, err := p.find(c.Args[0])
	if err != nil {
		return 0, err
	}
	cmd := &exec.Cmd{Path: path, Args: c.Args, Env: p.Env, Dir: p.Dir}
	start := startPiped
	if c.Terminal != nil {
		start = startOnTerminal
	}
	finish, err := start(cmd, c)
	if err != nil {
		return 0, startError(c.Args[0], err)
	}
	ended := make(chan struct{})
	var workers sync.WaitGroup
	workers.Go(func() { forward(ctx, cmd.Process.Pid, c.Signals, ended) })
	err = finish()
	close(ended)
	workers.Wait()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return exitCode(cmd, err)
}

// find returns the path of a program by the PATH of the replica.
func (p Place) find(name string) (string, error) {
	path, err := procs.LookPath(name, variable(p.Env, "PATH"), p.Dir)
	if err != nil {
		return "", startError(name, err)
	}
	return path, nil
}

// Has reports whether a variable is set in the environment.
func (p Place) Has(name string) bool { return variable(p.Env, name) != "" }

func variable(env []string, name string) (value string) {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// startError returns why a program cannot run, with the exit code of shells.
func startError(name string, err error) error {
	code, text := spec.ExitNotExecutable, "is not executable"
	if errors.Is(err, fs.ErrNotExist) {
		code, text = spec.ExitNotFound, "not found in the replica's PATH"
		if strings.Contains(name, "/") {
			text = "does not exist"
		}
	} else if !errors.Is(err, fs.ErrPermission) {
		text = "cannot run: " + err.Error()
	}
	return &backend.StartError{Code: code, Err: &programError{name + " " + text, err}}
}

type programError struct {
	text  string
	cause error
}

func (e *programError) Error() string { return e.text }
func (e *programError) Unwrap() error { return e.cause }

// startPiped starts a command on the streams of c.
func startPiped(cmd *exec.Cmd, c backend.Command) (finish func() error, err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdout, cmd.Stderr = c.Stdout, c.Stderr
	var input io.WriteCloser
	if f, ok := c.Stdin.(*os.File); ok && !term.IsTerminal(int(f.Fd())) {
		cmd.Stdin = f
	} else if c.Stdin != nil { // a process group in the background may not read the terminal
		if input, err = cmd.StdinPipe(); err != nil {
			return nil, err
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if input != nil {
		go func() { // not awaited: a read of the terminal cannot be interrupted
			_, _ = io.Copy(input, c.Stdin)
			_ = input.Close()
		}()
	}
	return cmd.Wait, nil
}

// forward sends signals to the command's process group, and kills it when ctx ends.
func forward(ctx context.Context, pid int, signals <-chan os.Signal, ended <-chan struct{}) {
	for {
		select {
		case s := <-signals:
			if number, ok := s.(syscall.Signal); ok {
				_ = syscall.Kill(-pid, number) // fails if it has ended
			}
		case <-ctx.Done():
			_ = syscall.Kill(-pid, syscall.SIGKILL)
			<-ended
			return
		case <-ended:
			return
		}
	}
}

// exitCode returns the exit code of a command that has ended.
func exitCode(cmd *exec.Cmd, err error) (int, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return spec.ExitSignal + int(status.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}

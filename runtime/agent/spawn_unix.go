//go:build unix

package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"torchx/runtime/spec"
)

// StartError says that the app did not start, and what `torchx run` exits with.
type StartError struct {
	Code int
	Msg  string
}

func (e *StartError) Error() string { return e.Msg }

// Spawn starts the detached agent of a bundle, hands it the lock and returns when
// every replica has started. Errors: *StartError.
func Spawn(exe string, b Bundle, lock *Lock) error {
	out, err := os.OpenFile(b.path(logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("start agent: %w", err)
	}
	defer out.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start agent: %w", err)
	}
	defer r.Close()
	cmd := exec.CommandContext(context.Background(), exe, "agent", b.Dir) // it outlives every caller
	cmd.Stdout, cmd.Stderr = out, out
	cmd.ExtraFiles = []*os.File{lock.File, w}
	cmd.Dir = "/" // it must not keep a mount busy
	cmd.Env = agentEnv(os.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	err = errors.Join(err, w.Close())
	if err != nil {
		return fmt.Errorf("start agent: %w", err)
	}
	answer, err := awaitReady(r)
	if err != nil {
		return &StartError{125, fmt.Sprintf("agent ended before the app started: %s (see %s)", lastLine(b.path(logFile)), b.path(logFile))}
	}
	if !answer.OK {
		return &StartError{answer.Code, answer.Error}
	}
	return cmd.Process.Release()
}

func awaitReady(r *os.File) (readyAnswer, error) {
	var a readyAnswer
	line, err := bufio.NewReader(r).ReadBytes('\n')
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(line, &a)
}

// agentEnv leaves out what marks a process as a part of an app: an agent that a
// replica starts must outlive it.
func agentEnv(env []string) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, spec.JobIDVariable+"=") {
			kept = append(kept, e)
		}
	}
	return kept
}

func lastLine(path string) string {
	data, err := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if err != nil || lines[len(lines)-1] == "" {
		return "no reason given"
	}
	return lines[len(lines)-1]
}

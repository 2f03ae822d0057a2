package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"torchx/runtime/filelock"
)

// SelfTestArgument replaces the folder in the agent's arguments: the agent then reports what
// it can do on this system (RunSelfTest).
const SelfTestArgument = "--self-test"

// SelfTest is what an agent process found out about its system. A string is "" if the
// feature works, else why it does not.
type SelfTest struct {
	Session   string `json:"session"`    // it leads its own session
	Subreaper string `json:"subreaper"`  // it adopts orphans of its replicas
	Pidfd     string `json:"pidfd"`      // processes can be signalled without a race
	OpenFiles uint64 `json:"open_files"` // limit; 0 if not known
	Processes uint64 `json:"processes"`  // limit of its user; 0 if unlimited
}

// StartSelfTest starts the program as an agent is started and returns its findings. It
// fails if exe cannot be started or is not torchx.
func StartSelfTest(ctx context.Context, exe string) (*SelfTest, error) {
	cmd := Detached(ctx, os.Environ(), exe, "agent", SelfTestArgument)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("start %s agent: %w", exe, ctx.Err())
	}
	if err != nil {
		if line, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n"); line != "" {
			err = fmt.Errorf("%w: %s", err, line)
		}
		return nil, fmt.Errorf("start %s agent: %w", exe, err)
	}
	found := &SelfTest{}
	if err := json.Unmarshal(out, found); err != nil {
		return nil, fmt.Errorf("start %s agent: its output is not from torchx: %w", exe, err)
	}
	return found, nil
}

// RunSelfTest is the agent's part of StartSelfTest: it prints its findings and returns the
// process's exit code.
func RunSelfTest(w io.Writer) int {
	if err := json.NewEncoder(w).Encode(selfTest()); err != nil {
		return 1
	}
	return 0
}

// reason returns the text of an error, "" for none.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// CheckLocks tests that a held lock on a file of the folder is visible to other processes
// and free again after its release. The supervision of apps depends on it.
func CheckLocks(dir string) error {
	f, err := os.CreateTemp(dir, ".lock-test-*")
	if err != nil {
		return fmt.Errorf("create a file: %w", err)
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	lock, err := filelock.TryAcquire(f.Name())
	if err != nil {
		return err
	}
	if !filelock.Held(f.Name()) {
		lock.Close()
		return errors.New("a held lock (flock) is not visible to other processes")
	}
	if err := lock.Close(); err != nil {
		return err
	}
	// A program that is just being started has inherited all files for a moment.
	for deadline := time.Now().Add(time.Second); filelock.Held(f.Name()); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("a released lock (flock) is still held")
		}
	}
	return nil
}

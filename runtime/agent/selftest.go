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

// SelfTestArgument replaces the folder in the agent's arguments: the agent then reports
// what it can do on this system (RunSelfTest).
const SelfTestArgument = "--self-test"

// SelfTest is what an agent process found out about the system it runs on. A text
// is "" if the thing works, else why it does not.
type SelfTest struct {
	Session   string `json:"session"`    // it leads a session of its own
	Subreaper string `json:"subreaper"`  // it gets the orphans of its replicas
	Pidfd     string `json:"pidfd"`      // processes can be signalled without a race
	OpenFiles uint64 `json:"open_files"` // it may have open; 0 if not known
	Processes uint64 `json:"processes"`  // its user may have; 0 if there is no limit
}

// StartSelfTest starts the program as agents are started and returns what it found
// out. Errors: it cannot be started, or is not this program.
func StartSelfTest(ctx context.Context, exe string) (*SelfTest, error) {
	cmd := command(ctx, exe, SelfTestArgument)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("start %s agent: %w", exe, ctx.Err())
	}
	if err != nil {
		if said, _, _ := strings.Cut(strings.TrimSpace(errs.String()), "\n"); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return nil, fmt.Errorf("start %s agent: %w", exe, err)
	}
	found := &SelfTest{}
	if err := json.Unmarshal(out, found); err != nil {
		return nil, fmt.Errorf("start %s agent: its answer is not that of torchx: %w", exe, err)
	}
	return found, nil
}

// RunSelfTest is the agent's part of StartSelfTest: it prints its findings. It
// returns the process's exit code.
func RunSelfTest(w io.Writer) int {
	if err := json.NewEncoder(w).Encode(selfTest()); err != nil {
		return 1
	}
	return 0
}

// reason is the text of an error, "" for none.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// CheckLocks tries what all depends on: that a lock on a file of the folder, once
// held, is seen by others, and free again at its end.
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
		return errors.New("a lock that is held (flock) is not seen by others")
	}
	if err := lock.Close(); err != nil {
		return err
	}
	// A program that is just being started has all files open for a moment.
	for deadline := time.Now().Add(time.Second); filelock.Held(f.Name()); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("a lock that was let go of (flock) is still held")
		}
	}
	return nil
}

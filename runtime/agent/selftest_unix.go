//go:build unix

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// StartSelfTest starts the program as agents are started and returns what it found
// out. Errors: it cannot be started, or is not this program.
func StartSelfTest(ctx context.Context, exe string) (*SelfTest, error) {
	cmd := exec.CommandContext(ctx, exe, "agent", SelfTestArgument)
	cmd.Dir = "/"
	cmd.Env = agentEnv(os.Environ())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
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

func selfTest() SelfTest {
	found := SelfTest{Subreaper: reason(trySubreaper()), Pidfd: reason(tryPidfd())}
	if sid, err := unix.Getsid(0); err != nil || sid != os.Getpid() {
		found.Session = fmt.Sprintf("it is in session %d of another process", sid)
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		found.OpenFiles = limit.Cur // the Go runtime has raised it to the hard limit
	}
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) == nil && limit.Cur != unix.RLIM_INFINITY && os.Getuid() != 0 {
		found.Processes = limit.Cur
	}
	return found
}

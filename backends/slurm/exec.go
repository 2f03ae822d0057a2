package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"torchx/backends/remote"
	"torchx/backends/slurm/folder"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// enterScript runs a command with the environment and in the folder of the process $1. Arguments
// are public on a node, so only variables whose names Bash cannot set, or changes itself, are
// given to env.
const enterScript = `vars=() PATH=
while IFS= read -r -d "" v; do
	vars+=("$v")
	case $v in PATH=*) PATH=${v#PATH=} ;; esac
done <"/proc/$1/environ" && cd "/proc/$1/cwd" || { echo "torchx: the replica has ended" >&2; exit 125; }
shift
if [ -z "$(type -P -- "$1")" ]; then
	case $1 in */*) [ ! -e "$1" ] || { echo "torchx: $1 is not executable" >&2; exit 126; } ;; esac
	echo "torchx: $1 not found" >&2
	exit 127
fi
env=$(PATH=/usr/bin:/bin type -P env) given=()
for v in $(compgen -e); do unset "$v"; done 2>/dev/null
for v in "${vars[@]}"; do
	case ${v%%=*} in
	*[!a-zA-Z0-9_]* | [0-9]* | "" | env | given | v | vars | _ | BASH* | COMP_* | DIRSTACK | EPOCH* | EUID | FUNCNAME | GROUPS | HISTCMD | LINENO | OLDPWD | OPT* | PIPESTATUS | PPID | PWD | RANDOM | SECONDS | SHELLOPTS | SHLVL | SRANDOM | UID) given+=("$v") ;;
	*) export "$v" ;;
	esac
done 2>/dev/null
exec "$env" -u _ -u SHLVL "${given[@]}" "$@"`

// Exec runs a command in the allocation of a replica, on its node, as a step beside the others.
// Errors: ErrNotFound, ErrNotRunning, ErrUnavailable, ErrUnsupported.
func (b *Backend) Exec(
	ctx context.Context, id string, r spec.Replica, c backend.Command,
) (int, error) {
	t, last, err := b.runningAttempt(ctx, id, r)
	if err != nil {
		return 0, err
	}
	args := []string{"--overlap", "--jobid=" + strconv.FormatInt(t.job, 10), "--nodes=1", "--ntasks=1", "--nodelist=" + last.Host}
	if len(t.record.App.Roles) > 1 {
		k := slices.IndexFunc(t.record.App.Roles, func(role spec.Role) bool { return role.Name == r.Role })
		args = append(args, fmt.Sprintf("--het-group=%d", k))
	}
	if c.Terminal != nil {
		return 0, backend.Errorf(backend.ErrUnsupported, "a terminal (--tty) is not supported by backend %s: `srun --overlap --jobid=%d --nodelist=%s --pty bash` opens a shell", Name, t.job, last.Host)
	}
	if c.Stdin == nil {
		args = append(args, "--input=none")
	}
	args = append(args, "--quiet", "--disable-status", "--export=ALL", "bash", "-c", enterScript,
		"torchx", strconv.Itoa(last.PID))
	return remote.UntilLost(ctx, c, func(ctx context.Context, c backend.Command) (int, error) {
		cmd, err := b.slurm.Command(ctx, "srun", append(args, c.Args...)...)
		if err != nil {
			return 0, err
		}
		return runStep(ctx, cmd, c)
	})
}

// runningAttempt returns the attempt of a replica that runs.
func (b *Backend) runningAttempt(
	ctx context.Context, id string, r spec.Replica,
) (*target, folder.Attempt, error) {
	t, err := b.find(ctx, id)
	if err != nil {
		return nil, folder.Attempt{}, err
	}
	if t.record == nil {
		return nil, folder.Attempt{}, backend.Errorf(backend.ErrUnsupported,
			"replicas of app %s cannot be entered from here: %s", id, t.hint())
	}
	run, err := t.folder.Run(t.record.App)
	if err != nil {
		return nil, folder.Attempt{}, err
	}
	attempts := run.Replicas[r]
	n := len(attempts)
	isRunning := n > 0 && attempts[n-1].Exit == nil && run.End == nil && t.job != 0
	if isRunning { // unless Slurm has killed the launcher, too
		s, err := b.status(ctx, t)
		isRunning = err != nil || !s.State.Terminal()
	}
	if !isRunning {
		return nil, folder.Attempt{}, fmt.Errorf("replica %s/%d of app %s: %w", r.Role, r.ID, id,
			backend.ErrNotRunning)
	}
	return t, attempts[len(attempts)-1], nil
}

// stepGrace is how long srun may take to end its step.
const stepGrace = 10 * time.Second

// runStep runs srun, passes on signals, and returns the exit code of its task.
func runStep(ctx context.Context, cmd *exec.Cmd, c backend.Command) (int, error) {
	messages := &stepFilter{w: c.Stderr}
	cmd.Stdout, cmd.Stderr = c.Stdout, messages
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // ends the step, too
	cmd.WaitDelay = stepGrace
	detach(cmd)
	if c.Stdin != nil {
		input, err := cmd.StdinPipe()
		if err != nil {
			return 0, err
		}
		go func() { // not awaited: a read of the terminal cannot be interrupted
			_, _ = io.Copy(input, c.Stdin)
			_ = input.Close()
		}()
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("run srun: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-c.Signals:
				_ = cmd.Process.Signal(s) // fails if it has ended
			case <-ended:
				return
			}
		}
	}()
	err := cmd.Wait()
	close(ended)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), messages.flush()
}

// stepFilter drops what srun itself says about the end of its task.
type stepFilter struct {
	w    io.Writer
	held []byte // the start of a line that may be of srun
}

var stepPrefix = []byte("srun: ")

func (f *stepFilter) Write(p []byte) (int, error) {
	f.held = append(f.held, p...)
	for len(f.held) > 0 {
		n := min(len(f.held), len(stepPrefix))
		mayBeStep := bytes.Equal(f.held[:n], stepPrefix[:n])
		end := bytes.IndexByte(f.held, '\n') + 1
		if mayBeStep && end == 0 {
			return len(p), nil
		}
		if end == 0 {
			end = len(f.held)
		}
		line := f.held[:end]
		if !mayBeStep || !bytes.Contains(line, []byte(": task 0: ")) {
			if _, err := f.w.Write(line); err != nil {
				return 0, err
			}
		}
		f.held = f.held[end:]
	}
	return len(p), nil
}

func (f *stepFilter) flush() error {
	_, err := f.w.Write(f.held)
	return err
}

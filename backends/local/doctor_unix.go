//go:build unix

package local

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"torchx/backends/local/proc"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/machine"
)

// checkTimeout bounds each check, so that a hanging driver does not hang the doctor.
const checkTimeout = 10 * time.Second

// minReplicas is how many replicas of one app a useful machine must allow.
const minReplicas = 100

// Doctor checks what local apps need of this machine.
func (b *Backend) Doctor(ctx context.Context) []backend.Check {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	found, err := agent.StartSelfTest(ctx, b.Exe)
	checks := []backend.Check{agentCheck(found, err)}
	if found != nil {
		checks = append(checks, kernelCheck(found), filesCheck(found), processesCheck(found))
	}
	return append(checks, backend.RunDiagnostics(ctx, checkTimeout, append([]backend.Diagnostic{
		{Name: "locks", Run: b.locksCheck},
		{Name: "dead apps", Run: b.deadCheck},
		{Name: "gpus", Run: gpusCheck, Minor: true},
		{Name: "python", Run: pythonCheck, Minor: true},
	}, b.systemDiagnostics()...))...)
}

func agentCheck(found *agent.SelfTest, err error) backend.Check {
	const name = "agent"
	switch {
	case err != nil:
		return backend.FailedCheck(name, "install torchx in a folder that allows executing programs, and allow it to start processes", "%v", err)
	case found.Session != "":
		return backend.FailedCheck(name, "allow setsid(2): otherwise apps end with their terminal",
			"%s", found.Session)
	}
	return backend.PassedCheck(name, "it starts in its own session")
}

func kernelCheck(found *agent.SelfTest) backend.Check {
	const name = "kernel"
	switch {
	case found.Subreaper != "":
		return backend.FailedCheck(name, "use a kernel and a sandbox that allow prctl(PR_SET_CHILD_SUBREAPER)", "the agent cannot adopt orphans: %s", found.Subreaper)
	case found.Pidfd != "":
		return backend.FailedCheck(name, "use Linux 5.3 or later and a sandbox that allows pidfd_open", "apps cannot be canceled: %s", found.Pidfd)
	}
	return backend.PassedCheck(name, "the agent can adopt orphans, and signals use pidfds")
}

func filesCheck(found *agent.SelfTest) backend.Check {
	const name = "open files"
	replicas := proc.MaxReplicas(found.OpenFiles)
	if found.OpenFiles > 0 && replicas < minReplicas {
		return backend.WarningCheck(name, "raise the hard limit: `ulimit -Hn`, LimitNOFILE= of systemd or /etc/security/limits.conf",
			"the limit of %d allows only %d replicas per app", found.OpenFiles, replicas)
	}
	return backend.PassedCheck(name, "the limit of %d allows %d replicas per app",
		found.OpenFiles, replicas)
}

func processesCheck(found *agent.SelfTest) backend.Check {
	const name = "processes"
	switch {
	case found.Processes == 0:
		return backend.PassedCheck(name, "no limit for this user")
	case found.Processes < 10*minReplicas:
		return backend.WarningCheck(name, "raise it: `ulimit -u`, TasksMax= of systemd or /etc/security/limits.conf", "this user may have only %d, including threads", found.Processes)
	}
	return backend.PassedCheck(name, "this user may have %d, including threads", found.Processes)
}

func (b *Backend) locksCheck(context.Context) backend.Check {
	if err := agent.CheckLocks(b.Home); err != nil {
		return backend.FailedCheck("locks", "set TORCHX_HOME to a folder on a local disk",
			"file locks do not work in TORCHX_HOME: %v", err)
	}
	return backend.PassedCheck("locks", "file locks work in TORCHX_HOME")
}

func (b *Backend) deadCheck(context.Context) backend.Check {
	const name = "dead apps"
	dead, err := agent.DeadApps(b.Home)
	switch {
	case err != nil:
		return backend.FailedCheck(name, "allow reading TORCHX_HOME", "%v", err)
	case len(dead) == 0:
		return backend.PassedCheck(name, "no app lost its agent")
	}
	shown := strings.Join(dead[:min(len(dead), 3)], ", ")
	if len(dead) > 3 {
		shown += ", ..."
	}
	return backend.WarningCheck(name, "run `torchx list`: it ends their remaining processes and records their results", "apps whose agent died: %d (%s)", len(dead), shown)
}

func gpusCheck(ctx context.Context) backend.Check {
	const name = "gpus"
	found, err := machine.GPUs(ctx)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return backend.PassedCheck(name, "none: nvidia-smi not found")
	case err != nil:
		return backend.WarningCheck(name, "run `nvidia-smi -L` to see what is wrong with the driver", "%v", err)
	}
	return backend.PassedCheck(name, "nvidia-smi lists %d", len(found))
}

// pythonProgram prints versions from the metadata of packages, because `import torch`
// takes seconds. It runs with -I, so that it imports nothing from the working folder, and
// adds the folders where replicas find packages.
const pythonProgram = `import os, platform, site, sys
from importlib import metadata
sys.path += filter(os.path.isabs, os.environ.get("PYTHONPATH", "").split(os.pathsep))
sys.path.append(site.getusersitepackages())
try:
    torch = "torch " + metadata.version("torch")
except metadata.PackageNotFoundError:
    torch = "no torch"
print("Python " + platform.python_version() + ", " + torch)`

func pythonCheck(ctx context.Context) backend.Check {
	const name = "python"
	cmd := exec.CommandContext(ctx, "python3", "-I", "-c", pythonProgram)
	cmd.Dir = "/" // a pyenv shim reads files of the working folder
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return backend.PassedCheck(name, "python3 not found: only Python apps need it")
	case err != nil:
		return backend.WarningCheck(name, "run `python3 --version` to see what is wrong",
			"python3 does not work: %v", oneLine(err))
	}
	return backend.PassedCheck(name, "%s", strings.TrimSpace(string(out)))
}

func oneLine(err error) string {
	text, _, _ := strings.Cut(fmt.Sprint(err), "\n")
	return text
}

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

var _ backend.Doctor = (*Backend)(nil)

// checkTime bounds each check: a hanging driver must not hang the doctor.
const checkTime = 10 * time.Second

// fewReplicas of one app at once are too few for a machine to be useful.
const fewReplicas = 100

// Doctor looks at what local apps need of this machine.
func (b *Backend) Doctor(ctx context.Context) []backend.Check {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	found, err := agent.StartSelfTest(ctx, b.Exe)
	checks := []backend.Check{agentCheck(found, err)}
	if found != nil {
		checks = append(checks, kernelCheck(found), filesCheck(found), processesCheck(found))
	}
	return append(checks, backend.RunDiagnostics(ctx, checkTime, append([]backend.Diagnostic{
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
		return backend.FailedCheck(name, "install torchx in a folder from which programs may be run, and allow it to start processes", "%v", err)
	case found.Session != "":
		return backend.FailedCheck(name, "allow setsid(2): apps end with their terminal otherwise", "%s", found.Session)
	}
	return backend.PassedCheck(name, "it starts, in a session of its own")
}

func kernelCheck(found *agent.SelfTest) backend.Check {
	const name = "kernel"
	switch {
	case found.Subreaper != "":
		return backend.FailedCheck(name, "use a kernel and a sandbox that allow prctl(PR_SET_CHILD_SUBREAPER)", "the agent cannot adopt orphans: %s", found.Subreaper)
	case found.Pidfd != "":
		return backend.FailedCheck(name, "use Linux 5.3 or later and a sandbox that allows pidfd_open", "apps cannot be cancelled: %s", found.Pidfd)
	}
	return backend.PassedCheck(name, "orphans are adopted, signals cannot go astray")
}

func filesCheck(found *agent.SelfTest) backend.Check {
	const name = "open files"
	replicas := proc.MaxReplicas(found.OpenFiles)
	if found.OpenFiles > 0 && replicas < fewReplicas {
		return backend.WarningCheck(name, "raise the hard limit: `ulimit -Hn`, LimitNOFILE= of systemd or /etc/security/limits.conf",
			"%d allow only %d replicas of one app at once", found.OpenFiles, replicas)
	}
	return backend.PassedCheck(name, "%d allow %d replicas of one app at once", found.OpenFiles, replicas)
}

func processesCheck(found *agent.SelfTest) backend.Check {
	const name = "processes"
	switch {
	case found.Processes == 0:
		return backend.PassedCheck(name, "this user has no limit of its own")
	case found.Processes < 10*fewReplicas:
		return backend.WarningCheck(name, "raise it: `ulimit -u`, TasksMax= of systemd or /etc/security/limits.conf", "this user may have %d only, threads included", found.Processes)
	}
	return backend.PassedCheck(name, "this user may have %d, threads included", found.Processes)
}

func (b *Backend) locksCheck(context.Context) backend.Check {
	if err := agent.CheckLocks(b.Home); err != nil {
		return backend.FailedCheck("locks", "set TORCHX_HOME to a folder on a local disk", "they do not work in the home: %v", err)
	}
	return backend.PassedCheck("locks", "they work in the home")
}

func (b *Backend) deadCheck(context.Context) backend.Check {
	const name = "dead apps"
	dead, err := agent.DeadApps(b.Home)
	switch {
	case err != nil:
		return backend.FailedCheck(name, "allow reading it", "%v", err)
	case len(dead) == 0:
		return backend.PassedCheck(name, "no app lost its agent")
	}
	shown := strings.Join(dead[:min(len(dead), 3)], ", ")
	if len(dead) > 3 {
		shown += ", ..."
	}
	return backend.WarningCheck(name, "type `torchx list`: it ends what they left running and writes their results", "the agent died of %d: %s", len(dead), shown)
}

func gpusCheck(ctx context.Context) backend.Check {
	const name = "gpus"
	found, err := machine.GPUs(ctx)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return backend.PassedCheck(name, "no nvidia-smi, hence no NVIDIA GPU to hand out")
	case err != nil:
		return backend.WarningCheck(name, "run `nvidia-smi -L` to see what is wrong with the driver", "%v", err)
	}
	return backend.PassedCheck(name, "nvidia-smi lists %d", len(found))
}

// pythonProgram prints versions without the seconds that `import torch` takes. It imports
// with -I, so nothing of the working folder, and then reads the metadata of packages where
// replicas find them, too.
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
	cmd.Dir = "/" // a shim of pyenv reads files of the working folder
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return backend.PassedCheck(name, "no python3, which only apps in Python need")
	case err != nil:
		return backend.WarningCheck(name, "run `python3 --version` to see what is wrong", "python3 does not work: %v", oneLine(err))
	}
	return backend.PassedCheck(name, "%s", strings.TrimSpace(string(out)))
}

func oneLine(err error) string {
	text, _, _ := strings.Cut(fmt.Sprint(err), "\n")
	return text
}

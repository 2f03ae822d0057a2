package docker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"

	"torchx/runtime/backend"
)

// inspectTimeout bounds the checks of an engine that answers.
const inspectTimeout = 10 * time.Second

// Names of checks.
const (
	endpointCheck = "endpoint"
	engineCheck   = "engine"
)

// Doctor checks which engine is used and what selected it, whether it answers, and
// what it offers to apps.
func (b *Backend) Doctor(ctx context.Context) []backend.Check {
	at, err := findEndpoint(lookup(b.environ))
	if err != nil {
		return []backend.Check{backend.FailedCheck(endpointCheck, "", "%v", err)}
	}
	checks := []backend.Check{backend.PassedCheck(endpointCheck, "%s", at)}
	engine, err := connect(ctx, at)
	if err != nil {
		return append(checks, engineFailure(err))
	}
	defer engine.Close()
	ctx, cancel := context.WithTimeout(ctx, inspectTimeout)
	defer cancel()
	info, err := engine.Info(ctx)
	if err != nil {
		return append(checks, engineFailure(at.explain(err)))
	}
	version, err := engine.ServerVersion(ctx)
	if err != nil {
		return append(checks, engineFailure(at.explain(err)))
	}
	isPodman := slices.ContainsFunc(version.Components, func(part types.ComponentVersion) bool { return part.Name == podmanEngine })
	return append(checks, engineAnswer(engine, info, isPodman), limitsCheck(info), restartCheck(info, isPodman),
		gpusCheck(info, at))
}

// podmanEngine is the name that Podman's service has in its version.
const podmanEngine = "Podman Engine"

// engineFailure returns the check of an engine that cannot be used.
func engineFailure(err error) backend.Check {
	if t, ok := errors.AsType[*endpointError](err); ok {
		return backend.FailedCheck(engineCheck, t.fix, "%s", t.what)
	}
	return backend.FailedCheck(engineCheck, "", "%v", err)
}

func engineAnswer(c *client.Client, info system.Info, isPodman bool) backend.Check {
	name := "Docker"
	if isPodman {
		name = "Podman"
	}
	return backend.PassedCheck(engineCheck, "%s %s, API %s, %s/%s with %d CPUs",
		name, info.ServerVersion, c.ClientVersion(), info.OSType, info.Architecture, info.NCPU)
}

// limitsCheck warns of limits of roles that the engine ignores.
func limitsCheck(info system.Info) backend.Check {
	const name = "limits"
	var ignored []string
	if !info.MemoryLimit {
		ignored = append(ignored, "memory")
	}
	if !info.CPUCfsQuota {
		ignored = append(ignored, "CPUs")
	}
	if len(ignored) > 0 {
		return backend.WarningCheck(name, "enable the memory and cpu controllers of cgroups, see `docker info`",
			"the kernel of the engine cannot limit %s: limits of roles have no effect", strings.Join(ignored, " and "))
	}
	return backend.PassedCheck(name, "memory and CPUs of containers are limited")
}

func restartCheck(info system.Info, isPodman bool) backend.Check {
	const name = "restarts"
	switch {
	case isPodman:
		return backend.PassedCheck(name, "containers keep running when Podman's service restarts")
	case info.LiveRestoreEnabled:
		return backend.PassedCheck(name, "containers keep running when the engine restarts (live-restore)")
	}
	return backend.PassedCheck(name, "containers end when the engine restarts and are retried; with live-restore they keep running")
}

func gpusCheck(info system.Info, at endpoint) backend.Check {
	const name = "gpus"
	_, nvidia := info.Runtimes["nvidia"]
	switch {
	case nvidia || len(info.DiscoveredDevices) > 0:
		return backend.PassedCheck(name, "the engine can assign GPUs")
	case !mayHaveGPUs(info, at.Host):
		return backend.PassedCheck(name, "none: apps that request GPUs run without them")
	case !at.isLocal():
		return backend.PassedCheck(name, "unknown: the engine is remote and has no GPU runtime")
	}
	return backend.WarningCheck(name, "install the NVIDIA Container Toolkit and run `nvidia-ctk runtime configure`", "GPU devices exist, but the engine has no runtime for them")
}

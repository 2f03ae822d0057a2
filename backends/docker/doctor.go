package docker

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"

	"torchx/runtime/backend"
)

var _ backend.Doctor = (*Backend)(nil)

// examTime bounds the look at an engine that has answered once.
const examTime = 10 * time.Second

// Names of checks.
const (
	endpointCheck = "endpoint"
	engineCheck   = "engine"
)

// Doctor tells which engine is used and who chose it, whether it answers, and what
// apps find there.
func (b *Backend) Doctor(ctx context.Context) []backend.Check {
	at, err := findEndpoint(lookup(b.environ))
	if err != nil {
		return []backend.Check{backend.FailedCheck(endpointCheck, "", "%v", err)}
	}
	checks := []backend.Check{backend.PassedCheck(endpointCheck, "%s", at.where())}
	engine, err := connect(ctx, at)
	if err != nil {
		return append(checks, engineFailure(err))
	}
	defer engine.Close()
	ctx, cancel := context.WithTimeout(ctx, examTime)
	defer cancel()
	info, err := engine.Info(ctx)
	if err != nil {
		return append(checks, engineFailure(at.explain(err)))
	}
	return append(checks, engineAnswer(engine, info), limitsCheck(info), restartCheck(info), gpusCheck(info, at))
}

// engineFailure separates what is wrong from what to do about it.
func engineFailure(err error) backend.Check {
	var t *endpointError
	if errors.As(err, &t) {
		return backend.FailedCheck(engineCheck, t.fix, "%s", t.what)
	}
	return backend.FailedCheck(engineCheck, "", "%v", err)
}

func engineAnswer(c *client.Client, info system.Info) backend.Check {
	return backend.PassedCheck(engineCheck, "Docker %s, API %s, %s/%s with %d CPUs", info.ServerVersion, c.ClientVersion(), info.OSType, info.Architecture, info.NCPU)
}

// limitsCheck tells which limits of a role would be ignored.
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
		return backend.WarningCheck(name, "turn on the memory and cpu controllers of control groups, see `docker info`",
			"the engine's kernel cannot limit %s: containers take what they want", strings.Join(ignored, " and "))
	}
	return backend.PassedCheck(name, "memory and CPUs of containers are limited")
}

func restartCheck(info system.Info) backend.Check {
	const name = "restarts"
	if info.LiveRestoreEnabled {
		return backend.PassedCheck(name, "containers go on when the engine is restarted (live-restore)")
	}
	return backend.PassedCheck(name, "containers end with the engine, and are retried; live-restore would keep them")
}

func gpusCheck(info system.Info, at endpoint) backend.Check {
	const name = "gpus"
	_, nvidia := info.Runtimes["nvidia"]
	switch {
	case nvidia || len(info.DiscoveredDevices) > 0:
		return backend.PassedCheck(name, "the engine can hand them out")
	case !mayHaveGPUs(info, at.Host):
		return backend.PassedCheck(name, "none: apps that ask for some run without")
	case !strings.HasPrefix(at.Host, localEngine):
		return backend.PassedCheck(name, "not known: the engine is elsewhere and has no runtime for them")
	}
	return backend.WarningCheck(name, "install the NVIDIA Container Toolkit and run `nvidia-ctk runtime configure`", "there are devices, but the engine has no runtime for them")
}

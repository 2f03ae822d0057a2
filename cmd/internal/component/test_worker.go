package component

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"runtime/debug"
	"time"

	"torchx/backends/driver"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/components"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/starlark/startest"
)

// TestWorkerCommand is the hidden command that runs tests for another process.
const TestWorkerCommand = "__component-test"

// workerEnd is how long a worker may take to exit.
const workerEnd = time.Second

func startTestWorker(ctx context.Context, f *program.Factory) *exec.Cmd {
	cmd := exec.CommandContext(ctx, f.Env.Exe, TestWorkerCommand)
	cmd.Dir, cmd.Env, cmd.WaitDelay = f.Env.Dir, f.Env.Vars, workerEnd
	return cmd
}

// Values for plans in tests. They are the same on every machine, so that golden plans are the
// same too.
const (
	testPlanHome = "/torchx-home"
	testPlanDir  = "/workspace"
	testPlanRand = 0x123456789ABCDEF0 // gives every app the same ID suffix
	testVersion  = "0.0.0"            // the version in plans
	testPath     = "PATH=/usr/bin:/bin"
)

// workerGC is the GC percentage of a worker. Workers are short-lived, so fewer collections are
// faster.
const workerGC = 400

// TestWorker runs the tests that another process requests on stdin.
func TestWorker(ctx context.Context, f *program.Factory) error {
	debug.SetGCPercent(workerGC)
	return startest.Work(ctx, testHost(ctx, f), f.In, f.Out, os.Exit)
}

// testHost is the program as tests see it. User settings have no effect on them.
func testHost(ctx context.Context, f *program.Factory) startest.Host {
	resources, err := f.RootResources()
	if err != nil {
		resources = nil // runTest has already reported the error
	}
	reg := f.Env.Registry(driver.Env{Home: testPlanHome, Exe: "torchx", Version: testVersion, Offline: true})
	return startest.Host{
		Dir: f.Env.Dir, Builtins: components.FS, Library: f.OpenLibraries().Open, Image: program.DefaultImage, Version: program.Version, Resources: resources,
		Plan: func(app *spec.App, backendName string, cfg map[string]string) ([]byte, error) {
			return planForTest(ctx, reg, app, backendName, cfg)
		},
	}
}

// planForTest returns the request of a plan, as `run --dryrun --json` prints it.
func planForTest(ctx context.Context, reg *backend.Registry, app *spec.App, backendName string,
	cfg map[string]string,
) ([]byte, error) {
	r := &runner.Runner{
		Backends:  reg,
		Rand:      func() uint64 { return testPlanRand },
		LookupEnv: func(string) (string, bool) { return "", false },
	}
	var layer backend.Layer
	for _, k := range ui.Keys(cfg) {
		layer = append(layer, backend.Value{Key: k, Text: cfg[k], Origin: "cfg"})
	}
	planned, err := r.Plan(ctx, runner.PlanRequest{
		Backend: backendName, App: app, Cfg: []backend.Layer{layer}, DefaultImage: program.DefaultImage, Environ: []string{testPath},
		Provenance: runner.Provenance{Source: history.Source{Cwd: testPlanDir}},
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(planned.Plan.Request)
}

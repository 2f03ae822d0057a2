package main

import (
	"context"
	"encoding/json"
	"os"
	"runtime/debug"

	"torchx/backends/all"
	"torchx/components"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/starlark/startest"
)

// What tests plan with: the same on every machine, so that golden plans are, too.
const (
	testPlanHome = "/torchx-home"
	testPlanDir  = "/workspace"
	testPlanRand = 0x123456789ABCDEF0 // the id behind an app's name is always the same
	testVersion  = "0.0.0"            // of what makes the plan
	testPath     = "PATH=/usr/bin:/bin"
)

// workerGC lets a worker collect garbage less often: it lives shortly, and most of
// what a test makes is garbage when it ends.
const workerGC = 400 // percent

// testWorker runs tests that another process asks for on stdin.
func (t *tool) testWorker(ctx context.Context) error {
	debug.SetGCPercent(workerGC)
	return startest.Work(ctx, t.testHost(ctx), t.in, t.out, os.Exit)
}

// testHost is what tests see of this program: nothing of the user's settings.
func (t *tool) testHost(ctx context.Context) startest.Host {
	resources, err := t.rootResources()
	if err != nil {
		resources = nil // componentTest has said so
	}
	reg := t.env.registry(all.Config{Home: testPlanHome, Exe: "torchx", Version: testVersion, Offline: true})
	return startest.Host{
		Dir: t.env.dir, Builtins: components.FS, Library: t.openLibraries().Open, Image: defaultImage, Version: version, Resources: resources,
		Plan: func(app *spec.App, backendName string, cfg map[string]string) ([]byte, error) {
			return planForTest(ctx, reg, app, backendName, cfg)
		},
	}
}

// planForTest returns the request of a plan, as `run --dryrun --json` prints it.
func planForTest(ctx context.Context, reg *backend.Registry, app *spec.App, backendName string, cfg map[string]string) ([]byte, error) {
	r := &runner.Runner{
		Backends:  reg,
		Rand:      func() uint64 { return testPlanRand },
		LookupEnv: func(string) (string, bool) { return "", false },
	}
	var layer backend.Layer
	for _, k := range keys(cfg) {
		layer = append(layer, backend.Value{Key: k, Text: cfg[k], Origin: "cfg"})
	}
	planned, err := r.Plan(ctx, runner.PlanRequest{
		Backend: backendName, App: app, Cfg: []backend.Layer{layer}, DefaultImage: defaultImage, Environ: []string{testPath},
		Provenance: runner.Provenance{Source: history.Source{Cwd: testPlanDir}},
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(planned.Plan.Request)
}

//go:build unix

package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"torchx/backends/driver"
	"torchx/backends/supervised"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/state"
	"torchx/test/backendtest"
	"torchx/test/enginetest"
	"torchx/test/homedir"
)

// real is the engine of all tests in this package. If it is nil, missing is the reason.
var (
	real    *enginetest.Engine
	missing error
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "agent" {
		os.Exit(runAgent(os.Args[2], driver.Program{OpenStore: openStore}))
	}
	os.Exit(withEngine(m.Run))
}

func openStore(ctx context.Context, home string) (agent.Store, error) {
	return state.Open(ctx, home+"/state.db", state.Options{Agent: true})
}

func withEngine(run func() int) int {
	real, missing = enginetest.Get()
	if real != nil && real.IsSeparate() {
		run = func() int { return rerun(real) } // where this program reaches the addresses of containers
	}
	code := run()
	if real != nil {
		if err := real.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return code
}

// needEngine skips a test if no engine is available.
func needEngine(t *testing.T) {
	t.Helper()
	if real != nil {
		return
	}
	enginetest.Missing(t, missing)
}

// rerun runs this program's tests in the network of an engine.
func rerun(e *enginetest.Engine) int {
	cmd := e.InNetwork(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), "DOCKER_HOST="+e.Host)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// needDocker skips a test on an engine of Podman, which differs. docs/howto/podman.md lists why.
func needDocker(t *testing.T, why string) {
	t.Helper()
	needEngine(t)
	if enginetest.Podman() {
		t.Skip("Podman: " + why)
	}
}

func newBackend(t *testing.T, home string, e *enginetest.Engine) *Backend {
	t.Helper()
	b, err := New(Config{Home: home, Exe: os.Args[0], Version: "test", Environ: []string{"DOCKER_HOST=" + e.Host}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tidy removes the containers of a home's apps.
func tidy(t *testing.T, home string, e *enginetest.Engine) {
	t.Helper()
	b := newBackend(t, home, e)
	defer b.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	bundles, _ := agent.List(home)
	for _, bundle := range bundles {
		m, err := bundle.Manifest()
		if err != nil {
			continue
		}
		supervised.AwaitAgent(bundle) // it writes to the home until it ends
		engine, err := b.connect(ctx)
		if err == nil {
			err = removeContainers(ctx, engine, m.ID)
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("tidy up %s: %v", m.ID, err)
		}
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	needEngine(t)
	caps := backendtest.AllCaps()
	caps.Times = !enginetest.Podman() // the times of its logs are whole seconds
	caps.AnyID = false                // IDs that differ only in punctuation would have the same container names
	backendtest.Run(t, func(t *testing.T) backendtest.Harness {
		home := homedir.New(t)
		t.Cleanup(func() { tidy(t, home, real) })
		open := func(t *testing.T) backend.Backend { return newBackend(t, home, real) }
		return backendtest.Harness{
			Backend: open(t), Programs: backendtest.Shell{}, Image: enginetest.Image, Caps: caps,
			Cfg: map[string]string{"grace_period": "2", "pull": "never"}, Home: home, Reopen: open, Timeout: 2 * time.Minute,
		}
	})
}

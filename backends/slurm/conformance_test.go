//go:build unix

package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"torchx/backends/driver"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/test/backendtest"
	"torchx/test/homedir"
	"torchx/test/slurmtest"
)

// TestMain makes the test binary the program that writes logs inside the allocation, and the agent
// of archives.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "agent" {
		os.Exit(runAgent(os.Args[2], driver.Program{OpenStore: func(context.Context, string) (agent.Store, error) {
			return nil, errors.New("tests have no history")
		}}))
	}
	if len(os.Args) > 1 && os.Args[1] == LogCommand {
		code, err := writeLog(os.Args[2:])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func newBackend(t *testing.T, home string) *Backend {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(Config{Home: home, Exe: exe, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestConformance(t *testing.T) {
	t.Parallel()
	slurmtest.Need(t)
	caps := backendtest.AllCaps()
	caps.AnyID = false        // they are names of jobs
	caps.StartErrors = false  // a job starts later
	caps.CompleteLogs = false // a forced end kills the process that writes the log, too
	backendtest.Run(t, func(t *testing.T) backendtest.Harness {
		home := homedir.New(t)
		open := func(t *testing.T) backend.Backend { return newBackend(t, home) }
		return backendtest.Harness{
			Backend: open(t), Programs: backendtest.Shell{}, Caps: caps,
			Cfg: map[string]string{"grace_period": "2", "replicas_per_node": "4"}, Home: home, Shared: true, Reopen: open, Timeout: 2 * time.Minute, ForceTimeout: time.Minute,
		}
	})
}

// Package slurmtest gives tests a real Slurm cluster: the one of $SLURM_CONF, such as that of
// `make e2e-slurm` (test/slurm). Without TORCHX_REQUIRE=slurm tests skip, so that `go test ./...`
// never uses a developer's cluster.
package slurmtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// waitTime bounds the wait for changes that usually take less than two seconds.
const waitTime = 3 * time.Minute

// Required reports whether tests use a cluster and fail without one.
func Required() bool {
	return slices.ContainsFunc(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), func(part string) bool {
		return strings.TrimSpace(part) == "slurm"
	})
}

// Need skips the test unless TORCHX_REQUIRE has slurm, and fails it if no controller answers.
func Need(t testing.TB) {
	t.Helper()
	if !Required() {
		t.Skip("no Slurm cluster: TORCHX_REQUIRE=slurm uses that of SLURM_CONF, and `make e2e-slurm` starts one")
	}
	if os.Getenv("SLURM_CONF") == "" {
		t.Fatal("no Slurm cluster, SLURM_CONF is not set: `make e2e-slurm` starts a cluster and sets it")
	}
	Output(t, "scontrol", "ping")
}

// HasAccounting reports whether the cluster stores accounting, so that sacct works.
func HasAccounting() bool { return os.Getenv("SLURM_ACCOUNTING") != "no" }

// Output returns what a command prints, trimmed. The test fails if the command does.
func Output(t testing.TB, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Cluster runs test/slurm/cluster.sh on the cluster of test/slurm/run.sh: "stop", "n2" ends a
// node with its jobs, "start", "n2" starts it again.
func Cluster(t testing.TB, verb, part string) {
	t.Helper()
	if os.Getenv("SLURM_STATE") == "" {
		t.Fatal("not a cluster of test/slurm/run.sh: SLURM_STATE is not set")
	}
	root := strings.TrimSpace(strings.TrimSuffix(Output(t, "go", "env", "GOMOD"), "go.mod"))
	Output(t, filepath.Join(root, "test", "slurm", "cluster.sh"), verb, part)
}

// Eventually waits until ok is true.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(waitTime); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not reached within %v", what, waitTime)
		}
	}
}

//go:build unix

package main

import (
	"strings"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/test/homedir"
)

// TestHandleOfAnotherBackend: bundles of all backends are in one folder, and the handle
// selects the backend. No engine is available.
func TestHandleOfAnotherBackend(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	local := strings.TrimSpace(torchx(t, dir, nil, "", "run", "-d", "utils.sh", "sleep", "300").out)
	t.Cleanup(func() { torchx(t, dir, nil, "", "delete", "-f", local) })
	wrong := strings.Replace(local, "local://", "docker://", 1)
	for _, command := range []string{"status", "log", "cancel", "delete"} {
		if r := torchx(t, dir, []string{"DOCKER_HOST=" + noEngine}, "", command, wrong); r.code != program.ExitError {
			t.Errorf("%s: %+v", command, r)
		}
	}
	if r := torchx(t, dir, nil, "", "status", local); !strings.Contains(r.out, "State: RUNNING") {
		t.Errorf("%+v", r)
	}
}

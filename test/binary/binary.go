// Package binary builds torchx for tests that run it as users do.
package binary

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Build writes torchx, built with the flags, to a folder and returns its path. All tests, and
// `make build`, build alike, and share Go's cache. `go run` caches the linked program, which `go
// build` does not: cp takes it from there.
func Build(dir string, flags ...string) (string, error) {
	program := filepath.Join(dir, "torchx")
	args := append([]string{"run", "-exec=cp", "-trimpath", "-buildvcs=false", "-ldflags=-w"}, flags...)
	build := exec.CommandContext(context.Background(), "go",
		append(args, "torchx/cmd/torchx", program)...)
	build.Env = os.Environ()
	if !slices.Contains(flags, "-race") { // which needs cgo
		build.Env = append(build.Env, "CGO_ENABLED=0")
	}
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build torchx: %w\n%s", err, out)
	}
	return program, nil
}

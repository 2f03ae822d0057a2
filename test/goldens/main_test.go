// Package goldens checks the output of `torchx run --dryrun --json`, with the real program,
// against recorded dry runs of TorchX (testdata/dryrun, inputs in testdata/cases) and
// against rules.
package goldens

import (
	"fmt"
	"os"
	"testing"

	_ "torchx/test/cleanenv"

	"torchx/test/binary"
)

// program is the path of torchx, which TestMain builds.
var program string

func TestMain(m *testing.M) {
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "torchx-goldens-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if program, err = binary.Build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

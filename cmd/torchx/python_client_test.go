package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// pythonClient is the folder of the client for Python.
const pythonClient = "../../clients/python"

// hasPython reports whether there is a python3, without which the test fails if TORCHX_REQUIRE
// has python.
func hasPython(t *testing.T) bool {
	t.Helper()
	_, err := exec.LookPath("python3")
	if err != nil && slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "python") {
		t.Fatal(err)
	}
	return err == nil
}

// TestPythonClient runs the tests of the client for Python, with the program of these tests.
func TestPythonClient(t *testing.T) {
	t.Parallel()
	if !hasPython(t) {
		t.Skip("needs python3")
	}
	binary, err := exec.LookPath("torchx")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-B", "test_torchx_client.py")
	cmd.Dir = pythonClient
	cmd.Env = append(os.Environ(), "TORCHX_BINARY="+binary, "TORCHXCONFIG=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

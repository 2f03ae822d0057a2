// Package fuzz tests the script that runs all fuzz targets.
package fuzz

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// fakeGo is a fake `go test`. The name of a target determines its result.
const fakeGo = `#!/bin/sh
case "$*" in
*FuzzBad*) echo "    Failing input written to testdata/fuzz/FuzzBad/1"; exit 1 ;;
*FuzzBroken*) echo "build failed"; exit 2 ;;
*FuzzLate*) printf -- '--- FAIL: FuzzLate (2.00s)\n    context deadline exceeded\n'; exit 1 ;;
esac
echo PASS
`

func TestFuzzScriptRunsAllTargetsAndFailsAtTheEnd(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a shell script")
	}
	script, err := filepath.Abs("fuzz.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		targets, want string
		fails         bool
	}{
		{"FuzzGood FuzzLate", "./p FuzzGood\n./p FuzzLate\n", false},
		{
			"FuzzBad FuzzBroken FuzzGood",
			"./p FuzzBad\n    Failing input written to testdata/fuzz/FuzzBad/1\n./p FuzzBroken\nbuild failed\n./p FuzzGood\n" +
				"fuzz: failed: ./p:FuzzBad ./p:FuzzBroken\n", true,
		},
	} {
		dir := t.TempDir()
		var src strings.Builder
		for name := range strings.FieldsSeq(c.targets) {
			src.WriteString("func " + name + "(f *testing.F) {\n")
		}
		write(t, filepath.Join(dir, "p", "x_test.go"), src.String())
		write(t, filepath.Join(dir, "go"), fakeGo)
		cmd := exec.Command(script, "2s")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GO="+filepath.Join(dir, "go"))
		out, err := cmd.CombinedOutput()
		if string(out) != c.want || (err != nil) != c.fails {
			t.Errorf("%s: got %q (%v), want %q, failure %t", c.targets, out, err, c.want, c.fails)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

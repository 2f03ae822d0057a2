package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/test/homedir"
)

// TestNotUTF8: a plan is JSON, which cannot hold arbitrary bytes: they are refused, not
// replaced.
func TestNotUTF8(t *testing.T) {
	t.Parallel()
	dir := homedir.New(t)
	for _, args := range [][]string{
		{"run", "utils.echo", "--msg", "\xff"},
		{"run", "--env", "A=\xff", "utils.echo"},
		{"run", "-cfg", "log_dir=/tmp/\xff", "utils.echo"},
		{"run", "--workspace", "\xff", "utils.echo"},
	} {
		if r := torchx(t, dir, nil, "", args...); r.code != program.ExitUsage || !strings.Contains(r.err, `\xff" is not valid UTF-8`) {
			t.Errorf("%q: %+v", args, r)
		}
	}
	odd := filepath.Join(dir, "caf\xe9")
	must(t, os.Mkdir(odd, 0o700))
	if r := torchx(t, odd, nil, "", "run", "utils.echo"); r.code != program.ExitError || !strings.Contains(r.err, `caf\xe9" is not valid UTF-8`) {
		t.Errorf("%+v", r)
	}
}

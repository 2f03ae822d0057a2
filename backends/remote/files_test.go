//go:build unix

package remote

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// here runs commands on this machine.
type here struct{}

func (here) Exec(ctx context.Context, _ string, _ spec.Replica, c backend.Command) (int, error) {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, c.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// archiveOf returns an archive of one file.
func archiveOf(t *testing.T, name, text string) *bytes.Buffer {
	t.Helper()
	out := &bytes.Buffer{}
	w := tar.NewWriter(out)
	err := errors.Join(w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}))
	_, werr := io.WriteString(w, text)
	if err = errors.Join(err, werr, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWriteFiles: an archive is read to its end, also if it cannot be extracted.
func TestWriteFiles(t *testing.T) {
	t.Parallel()
	c, dir := Copier{here{}}, t.TempDir()
	text := strings.Repeat("0123456789", 100_000)
	if err := c.WriteFiles(t.Context(), "", spec.Replica{}, dir, archiveOf(t, "a", text)); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a")); err != nil || string(got) != text {
		t.Errorf("got %d bytes, %v, want %d", len(got), err, len(text))
	}
	for name, want := range map[string]error{"none": fs.ErrNotExist, "a": nil} {
		archive := archiveOf(t, "b", text)
		err := c.WriteFiles(t.Context(), "", spec.Replica{}, filepath.Join(dir, name), archive)
		if err == nil || want != nil && !errors.Is(err, want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want one line", name, err)
		}
		if archive.Len() > 0 {
			t.Errorf("%s: %d bytes were not read", name, archive.Len())
		}
	}
}

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
	"path"
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
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
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

// writerFunc is a function that receives output.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestReadGrowing: a file that grows while it is read is copied as it was, without an error.
func TestReadGrowing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "log")
	if err := os.WriteFile(name, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	grown := false
	err := Copier{here{}}.ReadFiles(t.Context(), "", spec.Replica{}, dir, writerFunc(func(p []byte) (int, error) {
		if !grown && archive.Len() > 4096 { // tar is within the file, and waits for the pipe
			grown = true
			f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return 0, err
			}
			_, err = f.WriteString("more")
			if err = errors.Join(err, f.Close()); err != nil {
				return 0, err
			}
		}
		return archive.Write(p)
	}))
	if err != nil || !grown {
		t.Fatal(err, grown)
	}
	for in := tar.NewReader(&archive); ; {
		h, err := in.Next()
		if err != nil {
			t.Fatal(err)
		}
		if path.Base(h.Name) == "log" {
			if n, err := io.Copy(io.Discard, in); n != 1<<20 || err != nil {
				t.Errorf("got %d bytes, %v, want those from before", n, err)
			}
			return
		}
	}
}

// TestDrain: a command has its input, output, exit code and mark; input ends with the command, also
// if there is more to come.
func TestDrain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script, input, mark string
		open                bool // more input could come
		out, errs           string
		code                int
	}{
		"all input":  {`cat; echo two >&2; exit 7`, "one", "", false, "one", "two\n", 7},
		"large":      {`cat | wc -c`, strings.Repeat("x", 1<<20), "m", false, "1048576\n", "", 0},
		"unread":     {`head -c 1`, strings.Repeat("x", 1<<20), "m", true, "x", "", 0},
		"mark":       {`echo $` + MarkVariable, "", "m", true, "m\n", "", 0},
		"no mark":    {`env | grep -c ^` + MarkVariable, "", "", true, "0\n", "", 1},
		"zero bytes": {`printf '\000x\000y' >&2`, "", "m", true, "", "\x00x\x00y", 0},
		"a signal":   {`kill -9 $$`, "", "m", true, "", "Killed\n", 137},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input, w := io.Pipe()
			go func() {
				_, _ = io.WriteString(w, tt.input) // fails if it is not read
				if !tt.open {
					w.Close()
				}
			}()
			defer input.Close()
			var out, errs bytes.Buffer
			c := Drain(backend.Command{Args: []string{"sh", "-c", tt.script}, Stdin: input, Stdout: &out, Stderr: &errs}, tt.mark)
			code, err := here{}.Exec(t.Context(), "", spec.Replica{}, c)
			if err != nil || code != tt.code || out.String() != tt.out || strings.TrimPrefix(errs.String(), "Killed\n") != strings.TrimPrefix(tt.errs, "Killed\n") {
				t.Errorf("got %d, %v, stdout %q, stderr %q, want %d, %q and %q", code, err, out.String(), errs.String(), tt.code, tt.out, tt.errs)
			}
		})
	}
}

// TestDrainUnstarted: input is not read if the command does not start.
func TestDrainUnstarted(t *testing.T) {
	t.Parallel()
	read := make(chan bool, 1)
	c := Drain(backend.Command{Args: []string{"true"}, Stdin: reading(read), Stderr: io.Discard}, "")
	go func() { _, _ = c.Stdin.Read(make([]byte, 1)) }()
	if _, err := c.Stderr.Write([]byte("sh: not found")); err != nil || len(read) > 0 {
		t.Errorf("got %v, %d reads, want none", err, len(read))
	}
}

// reading is input that tells when it is read.
type reading chan bool

func (r reading) Read([]byte) (int, error) {
	r <- true
	return 0, io.EOF
}

// Package remote does in replicas, by programs that run inside of them, what their system has no
// request for: Copier copies files by sh, ls and tar, WithSignals sends signals by sh, grep and
// kill.
package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Copier implements backend.FileCopier.
type Copier struct{ Executor backend.Executor }

// StatFile returns the type of a file, following links.
func (c Copier) StatFile(
	ctx context.Context, id string, r spec.Replica, name string,
) (fs.FileMode, error) {
	var out bytes.Buffer
	err := c.run(ctx, id, r, backend.Command{Args: inEnglish("ls", "-ldL", argument(name)), Stdout: &out}, name)
	if err != nil {
		return 0, err
	}
	switch {
	case strings.HasPrefix(out.String(), "d"):
		return fs.ModeDir, nil
	case strings.HasPrefix(out.String(), "-"):
		return 0, nil
	}
	return fs.ModeIrregular, nil
}

// ReadFiles writes a file or a folder as a tar archive.
func (c Copier) ReadFiles(
	ctx context.Context, id string, r spec.Replica, name string, w io.Writer,
) error {
	clean := path.Clean(name)
	dir, base := path.Dir(clean), "./"+path.Base(clean)
	if clean == "/" || clean == "." || path.Base(clean) == ".." {
		dir, base = clean, "."
	}
	return c.run(ctx, id, r, backend.Command{Args: inEnglish("tar", "cf", "-", "-C", argument(dir), base), Stdout: w}, name)
}

// extract extracts an archive into the folder $1 and reads it to its end, also if tar fails: a
// node of Kubernetes never ends a command whose input is left unread.
const extract = `LC_ALL=C tar xf - -C "$1"; code=$?; cat >/dev/null; exit $code`

// WriteFiles extracts a tar archive into a folder.
func (c Copier) WriteFiles(
	ctx context.Context, id string, r spec.Replica, dir string, archive io.Reader,
) error {
	return c.run(ctx, id, r, backend.Command{Args: []string{"sh", "-c", extract, "tar", argument(dir)}, Stdin: archive, Stdout: io.Discard}, dir)
}

// inEnglish returns a command whose messages this package understands, whatever the locale of the
// replica.
func inEnglish(program string, args ...string) []string {
	return append([]string{"sh", "-c", `LC_ALL=C exec "$0" "$@"`, program}, args...)
}

// argument returns a path that is not taken for an option.
func argument(name string) string {
	if strings.HasPrefix(name, "-") {
		return "./" + name
	}
	return name
}

// maxMessage bounds how much of a program's messages is kept, in bytes.
const maxMessage = 4 << 10

// run runs a command and returns its first message as an error.
func (c Copier) run(
	ctx context.Context, id string, r spec.Replica, command backend.Command, name string,
) error {
	messages := &tail{}
	command.Stderr = messages
	code, err := c.Executor.Exec(ctx, id, r, command)
	var start *backend.StartError
	switch {
	case errors.As(err, &start):
		return missing(command.Args[0])
	case err != nil:
		return err
	case code == 0:
		return nil
	case code == spec.ExitNotFound:
		return missing("tar")
	}
	text := messages.first()
	switch {
	case code == tarDiffers && messages.onlyChanges():
		return nil
	case strings.Contains(text, "No such file or directory"):
		return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	case strings.Contains(text, "Permission denied"):
		return fmt.Errorf("%s: %w", name, fs.ErrPermission)
	case text == "":
		return fmt.Errorf("%s: %s failed with exit code %d", name, command.Args[3], code)
	}
	return fmt.Errorf("%s: %s", name, text)
}

// tarDiffers is the exit code of GNU tar if files changed while it read them. What was read is
// whole.
const tarDiffers = 1

// onlyChanges reports whether tar says no more than that.
func (t *tail) onlyChanges() bool {
	for line := range strings.Lines(string(t.data)) {
		line = strings.TrimSpace(line)
		if !strings.HasSuffix(line, ": file changed as we read it") &&
			!strings.HasSuffix(line, ": File removed before we read it") {
			return false
		}
	}
	return len(t.data) > 0
}

// missing returns the error of a replica without a program.
func missing(program string) error {
	return fmt.Errorf("the replica has no program %s: use an image with %[1]s, or mount a volume", program)
}

// tail keeps the end of what is written.
type tail struct{ data []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if extra := len(t.data) - maxMessage; extra > 0 {
		t.data = t.data[extra:]
	}
	return len(p), nil
}

// first returns the first line: the others follow from it.
func (t *tail) first() string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(t.data)), "\n")
	return strings.TrimSpace(line)
}

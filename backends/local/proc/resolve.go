//go:build unix

package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"torchx/runtime/agent"
	"torchx/runtime/procs"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// resolve returns the program of a command. It searches the image's folder, then the
// command's PATH and folder as execvp(3) does. Errors wrap fs.ErrNotExist or
// fs.ErrPermission.
func resolve(c Command) (string, error) {
	name := c.Argv[0]
	if c.ImageRoot != "" && !filepath.IsAbs(name) {
		if path := filepath.Join(c.ImageRoot, name); procs.Executable(path) == nil {
			return path, nil
		}
	}
	list := getenv(c.Env, "PATH")
	path, err := procs.LookPath(name, list, c.Dir)
	switch {
	case err == nil:
		return path, nil
	case strings.Contains(name, "/") || !errors.Is(err, procs.ErrNotFound):
		return "", fmt.Errorf("entry point %q %w", name, err)
	}
	hint := ""
	if procs.Executable(filepath.Join(c.Dir, name)) == nil {
		hint = fmt.Sprintf(": it is in the working folder, use ./%s or -cfg prepend_cwd=true", name)
	}
	return "", fmt.Errorf("entry point %q %w in PATH (%s)%s", name, err, list, hint)
}

// startError returns what was missing if the kernel did not start an existing program:
// ENOENT has several causes. The error keeps its class.
func startError(path, dir string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return &os.PathError{Op: "start", Path: path, Err: err}
	}
	if _, stat := os.Stat(dir); stat != nil {
		return fmt.Errorf("start %s: working folder %q %w", path, dir, procs.ErrNotFound)
	}
	if name := shebangProgram(path); name != "" {
		return fmt.Errorf("entry point %q: its interpreter %q %w", path, name, procs.ErrNotFound)
	}
	return &os.PathError{Op: "start", Path: path, Err: err}
}

// maxShebang is how many bytes of a script's first line the kernel reads.
const maxShebang = 256

// shebangProgram returns the interpreter in the first line of a script, including a
// trailing carriage return of an editor; "" if the file is not a script.
func shebangProgram(path string) string {
	f, err := safefile.OpenInput(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line := make([]byte, maxShebang)
	n, _ := io.ReadFull(f, line) // a short file is fine
	text, ok := strings.CutPrefix(string(line[:n]), "#!")
	if !ok {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n")
	name, _, _ := strings.Cut(strings.TrimLeft(text, " \t"), " ")
	return name
}

// startFailure returns the error of a start with the exit code that shells use.
func startFailure(r spec.Replica, err error) *agent.ReplicaStartError {
	code := spec.ExitNotStarted
	switch {
	case errors.Is(err, syscall.ENOEXEC), errors.Is(err, fs.ErrPermission):
		code = spec.ExitNotExecutable
	case errors.Is(err, fs.ErrNotExist):
		code = spec.ExitNotFound
	}
	return &agent.ReplicaStartError{Replica: r, Code: code, Err: err}
}

// maxErrorFile is how many bytes of an error file are read.
const maxErrorFile = 1 << 20

// readErrorFile returns the contents of the file if it is JSON, otherwise as a JSON string;
// nil if the file does not exist or is empty.
func readErrorFile(path string) []byte {
	if path == "" {
		return nil
	}
	f, err := safefile.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxErrorFile))
	if err != nil || len(data) == 0 {
		return nil
	}
	if !json.Valid(data) {
		data, _ = json.Marshal(string(data)) // a string cannot fail
	}
	return data
}

// mergeEnv returns env with the entries of more, which override those of the same name.
func mergeEnv(env, more []string) []string {
	at := make(map[string]int, len(env))
	merged := slices.Clone(env)
	for i, e := range merged {
		k, _, _ := strings.Cut(e, "=")
		at[k] = i
	}
	for _, e := range more {
		k, _, _ := strings.Cut(e, "=")
		if i, ok := at[k]; ok {
			merged[i] = e
			continue
		}
		at[k] = len(merged)
		merged = append(merged, e)
	}
	return merged
}

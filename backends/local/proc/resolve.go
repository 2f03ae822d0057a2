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
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// resolve finds the program of a command as execvp(3) would with the command's
// own PATH and folder, after the image's folder. Errors wrap fs.ErrNotExist or
// fs.ErrPermission.
func resolve(c Command) (string, error) {
	name := c.Argv[0]
	if c.ImageRoot != "" && !filepath.IsAbs(name) {
		if path := filepath.Join(c.ImageRoot, name); executable(path) == nil {
			return path, nil
		}
	}
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		if err := executable(path); err != nil {
			return "", fmt.Errorf("entry point %q %w", name, err)
		}
		return path, nil
	}
	return search(name, getenv(c.Env, "PATH"), c.Dir)
}

func search(name, list, dir string) (string, error) {
	var found error
	for _, d := range filepath.SplitList(list) {
		if !filepath.IsAbs(d) { // an empty entry too is the working folder
			d = filepath.Join(dir, d)
		}
		path := filepath.Join(d, name)
		err := executable(path)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			found = err
		}
	}
	if found != nil {
		return "", fmt.Errorf("entry point %q %w", name, found)
	}
	hint := ""
	if executable(filepath.Join(dir, name)) == nil {
		hint = fmt.Sprintf(": the working folder has one, which counts as ./%s or with -cfg prepend_cwd=true", name)
	}
	return "", fmt.Errorf("entry point %q %w in PATH (%s)%s", name, errMissing, list, hint)
}

// The causes read as the end of a sentence and carry their class.
var (
	errMissing = &lookupError{"not found", fs.ErrNotExist}
	errNotExec = &lookupError{"is not executable", fs.ErrPermission}
	errIsDir   = &lookupError{"is a folder", fs.ErrPermission}
)

type lookupError struct {
	text  string
	class error
}

func (e *lookupError) Error() string { return e.text }
func (e *lookupError) Unwrap() error { return e.class }

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return errNotExec
	case err != nil:
		return errMissing
	case info.IsDir():
		return errIsDir
	case info.Mode()&0o111 == 0:
		return errNotExec
	}
	return nil
}

// startError says what the kernel missed when it did not start a program that is
// there: it has one error for all. The error keeps its class.
func startError(path, dir string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return &os.PathError{Op: "start", Path: path, Err: err}
	}
	if _, stat := os.Stat(dir); stat != nil {
		return fmt.Errorf("start %s: working folder %q %w", path, dir, errMissing)
	}
	if name := shebangProgram(path); name != "" {
		return fmt.Errorf("entry point %q: its interpreter %q %w", path, name, errMissing)
	}
	return &os.PathError{Op: "start", Path: path, Err: err}
}

// interpreterLine is how much of a script's first line the kernel looks at.
const interpreterLine = 256

// shebangProgram is the program that the first line of a script names, with a carriage
// return that an editor put behind it; "" if it is none.
func shebangProgram(path string) string {
	f, err := safefile.OpenInput(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line := make([]byte, interpreterLine)
	n, _ := io.ReadFull(f, line) // a short file is no error
	text, ok := strings.CutPrefix(string(line[:n]), "#!")
	if !ok {
		return ""
	}
	text, _, _ = strings.Cut(text, "\n")
	name, _, _ := strings.Cut(strings.TrimLeft(text, " \t"), " ")
	return name
}

// startFailure gives an error of a start the exit code of the shells' convention.
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

// maxErrorFile bounds what of an error file is taken into the status.
const maxErrorFile = 1 << 20

// readErrorFile returns the file's JSON, its text as a JSON string if it is not
// JSON, or nil if there is none.
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

// mergeEnv returns env with the entries of more in place of those of the same name.
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

package migrate

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// dumpProgram prints a syntax tree. It needs only Python's standard library.
//
//go:embed dump.py
var dumpProgram string

// MaxSource is the maximum size of a Python file, in bytes.
const MaxSource = 1 << 20

// Limits of reading one file. A tree is about fifty times as large as its text.
const (
	maxTree     = 256 << 20
	dumpTimeout = 30 * time.Second
)

// dumped is what dumpProgram prints.
type dumped struct {
	Tree     *node     `json:"tree"`
	Comments []comment `json:"comments"`
	Old      string    `json:"old"` // version of Python, if it is too old
	Error    string    `json:"error"`
	Line     int       `json:"line"`

	Imports map[string]string `json:"imports"` // local names to full names
	Stars   []star            `json:"stars"`
}

// star is from Module import *.
type star struct {
	Module string `json:"module"`
	Line   int    `json:"line"`
}

// comment is a comment of the program.
type comment struct {
	Line  int    `json:"line"`
	Alone bool   `json:"alone"` // the only text of its line
	Text  string `json:"text"`  // with its #
}

// parse lets python read a program without executing it. An error in the program is a Problem.
func parse(ctx context.Context, python, name string, source []byte) (*dumped, error) {
	if len(source) > MaxSource {
		return nil, fmt.Errorf("%s is too large for a component file: more than %d KiB", name, MaxSource>>10)
	}
	path, err := exec.LookPath(python)
	if err != nil {
		return nil, fmt.Errorf("%s not found: it is needed to read %s (install Python 3.8 or later, or put it on PATH)", python, name)
	}
	ctx, cancel := context.WithTimeout(ctx, dumpTimeout)
	defer cancel()
	// -I: no environment variables, no user packages, no working folder; -S: no site.
	cmd := exec.CommandContext(ctx, path, "-I", "-S", "-c", dumpProgram, name)
	cmd.Dir = string(filepath.Separator) // a shim of pyenv reads files of the working folder
	cmd.Stdin = bytes.NewReader(source)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s could not read %s: %w%s", path, name, err, lastLine(errs.String()))
	}
	return decode(path, name, out.Bytes())
}

func decode(path, name string, data []byte) (*dumped, error) {
	if len(data) > maxTree {
		return nil, fmt.Errorf("the syntax tree of %s is too large", name)
	}
	d := &dumped{}
	if err := json.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("%s printed no syntax tree of %s: %w", path, name, err)
	}
	switch {
	case d.Old != "":
		return nil, fmt.Errorf("%s is Python %s, which is too old to read %s: install Python 3.8 or later", path, d.Old, name)
	case d.Error != "":
		return nil, Problem{File: name, Line: d.Line, Msg: "not a valid Python program: " + d.Error}
	case d.Tree == nil || d.Tree.Kind == "":
		return nil, errors.New(path + " printed no syntax tree of " + name)
	}
	return d, nil
}

// lastLine returns a colon and the last line of an error output, "" if it is empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last
	}
	return ""
}

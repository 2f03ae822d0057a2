package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// environment is the folder and the program of one run.
type environment struct {
	ctx            context.Context // ends commands that hang
	bin, dir, home string
	env            []string // variables of commands, in addition to inherited ones
	log            struct{ handle, file string }
}

// floor returns the path of the floor program.
func (w *environment) floor() string { return filepath.Join(w.dir, "floor") }

// hello returns the path of the smallest program.
func (w *environment) hello() string { return filepath.Join(w.dir, "hello") }

// install builds the floors and copies all programs, as an installation does: the kernel maps the
// pages that the linker has written one by one, which adds 1.5 ms to each start of torchx.
func (w *environment) install(bin string) error {
	for _, name := range []string{"floor", "hello"} {
		built := filepath.Join(w.dir, name+".built")
		if err := w.sh("CGO_ENABLED=0 go build -trimpath -o " + built + " ./test/bench/" + name); err != nil {
			return err
		}
		if err := w.sh("cp " + built + " " + filepath.Join(w.dir, name)); err != nil {
			return err
		}
	}
	w.bin = filepath.Join(w.dir, "torchx")
	return w.sh("cp " + bin + " " + w.bin)
}

// in returns the environment with a separate home.
func (w *environment) in(home string) *environment {
	return &environment{ctx: w.ctx, bin: w.bin, dir: w.dir, home: filepath.Join(w.dir, home), env: w.env}
}

// command returns a side that runs a shell command.
func (w *environment) command(script string) side { return timed(func() error { return w.sh(script) }) }

// torchx returns a side that runs a torchx command.
func (w *environment) torchx(args string) side { return w.command("exec " + w.bin + " " + args) }

func (w *environment) sh(script string) error {
	_, err := w.output(script)
	return err
}

// output returns the stdout of a shell command.
func (w *environment) output(script string) (string, error) {
	cmd := w.cmd(script)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", script, err, stderr.String())
	}
	return stdout.String(), nil
}

func (w *environment) cmd(script string) *exec.Cmd {
	cmd := exec.CommandContext(w.ctx, "sh", "-c", script)
	cmd.Env = append(append(os.Environ(), w.env...), "TORCHX_HOME="+w.home)
	return cmd
}

// start starts a shell command as an app with one role and returns its handle.
func (w *environment) start(script string, replicas int, flags string) (handle string, err error) {
	out, err := w.output(fmt.Sprintf("exec %s run -d %s utils.sh --num_replicas %d %s", w.bin, flags, replicas, script))
	return strings.TrimSpace(out), err
}

// run starts an app and waits for its end.
func (w *environment) run(script, flags string) (handle string, err error) {
	if handle, err = w.start(script, 1, flags); err != nil {
		return "", err
	}
	return handle, w.sh("exec " + w.bin + " wait " + handle)
}

// Command torchx runs apps that are described in Starlark on this machine, on
// Docker and on Kubernetes, and looks after them. This package is the command
// line: one file per sub-command, one exit-code table (exit.go), and nothing
// else in the project prints.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"torchx/backends/all"
	"torchx/backends/driver"
	"torchx/runtime/backend"
)

func main() {
	becomeLimited(os.Args)
	collectLate()
	ownUmask()
	os.Exit(run(context.Background(), os.Args, streams{os.Stdin, os.Stdout, os.Stderr}, processEnv()))
}

// becomeLimited turns this process into a replica's program with limits, if it was
// started for that; first of all, so that the program finds its signals as they were.
func becomeLimited(args []string) {
	if len(args) < 2 {
		return
	}
	command := all.Command(args[1])
	if command == nil {
		return
	}
	code, err := command(args[2:])
	fmt.Fprintln(os.Stderr, "torchx:", err)
	os.Exit(code)
}

// environment is what a command sees of the process around it; tests make their own.
type environment struct {
	vars    []string // "K=V"
	dir     string   // the working folder, absolute
	exe     string   // this program, for detached agents
	signals <-chan os.Signal
	// registry opens the backends of one TORCHX_HOME.
	registry func(driver.Env) *backend.Registry
}

func processEnv() environment {
	dir, err := os.Getwd()
	if err != nil {
		dir = "." // a deleted folder: what needs it says so
	}
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return environment{
		vars: os.Environ(), dir: dir, exe: exe, signals: listen(), registry: openBackends,
	}
}

func openBackends(c driver.Env) *backend.Registry { return all.New(c) }

// listen asks for the signals that end a command. SIGPIPE is asked for so that
// a closed pipe is an error to handle rather than a silent death; it is not
// ignored, because children would inherit that. A hang-up that is ignored
// (nohup) stays ignored.
func listen() <-chan os.Signal {
	c := make(chan os.Signal, 8)
	wanted := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		wanted = append(wanted, syscall.SIGHUP)
	}
	signal.Notify(c, wanted...)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return c
}

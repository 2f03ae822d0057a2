package program

import (
	"os"
	"os/signal"
	"syscall"

	"torchx/backends/all"
	"torchx/backends/driver"
	"torchx/runtime/backend"
)

// Environment is what a command sees of the process around it; tests make their own.
type Environment struct {
	Vars    []string // "K=V"
	Dir     string   // the working folder, absolute
	Exe     string   // this program, for detached agents
	Signals <-chan os.Signal
	// Registry opens the backends of one TORCHX_HOME.
	Registry func(driver.Env) *backend.Registry
}

func ProcessEnv() Environment {
	dir, err := os.Getwd()
	if err != nil {
		dir = "." // a deleted folder: what needs it says so
	}
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return Environment{
		Vars: os.Environ(), Dir: dir, Exe: exe, Signals: listen(), Registry: OpenBackends,
	}
}

func OpenBackends(c driver.Env) *backend.Registry { return all.New(c) }

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

package program

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"torchx/runtime/userpath"

	"torchx/backends/all"
	"torchx/backends/driver"
	"torchx/runtime/backend"
	"torchx/runtime/safefile"
)

// Environment is what a command sees of its process; tests make their own.
type Environment struct {
	Vars    []string // "K=V"
	Dir     string   // the working folder, absolute
	Exe     string   // this program, for detached agents
	Signals <-chan os.Signal
	// Registry opens the backends of one TORCHX_HOME.
	Registry func(driver.Env) *backend.Registry
}

// ProcessEnv returns the environment of this process and begins to receive its signals.
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

// OpenBackends returns the registry of all backends.
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

// InDir returns the environment as it is in the folder dir.
func (e Environment) InDir(dir string) Environment {
	e.Dir = dir
	if _, ok := e.Lookup("PWD"); ok {
		e.Vars = append(slices.Clone(e.Vars), "PWD="+dir)
	}
	return e
}

// Lookup returns a variable of the environment.
func (e Environment) Lookup(name string) (string, bool) {
	for i := len(e.Vars) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(e.Vars[i], "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

// Get returns a variable of the environment, "" if it is not set.
func (e Environment) Get(name string) string {
	v, _ := e.Lookup(name)
	return v
}

// homeParts are what of a home must belong to the user, beside the home.
var homeParts = []string{"", "apps", "live", "queue", "unrecorded", "archive", HistoryFile}

// Home returns the folder that holds everything: $TORCHX_HOME, else ~/.torchx. It is an
// error if that is another user's.
func (e Environment) Home() (string, error) {
	home, err := e.homePath()
	if err != nil {
		return "", err
	}
	for _, part := range homeParts {
		var foreign *safefile.OwnerError
		if err := safefile.CheckOwner(filepath.Join(home, part)); errors.As(err, &foreign) {
			return "", fmt.Errorf("%w: run torchx as that user (sudo -u %s torchx …), or set TORCHX_HOME to a folder of your own", err, foreign.Name)
		}
	}
	return home, nil
}

func (e Environment) homePath() (string, error) {
	home := e.Get("TORCHX_HOME")
	if home == "" {
		user := cmp.Or(e.Get("HOME"), e.Get("USERPROFILE")) // Windows has the second
		if user == "" {
			return "", errors.New("no home folder is known: set TORCHX_HOME or HOME")
		}
		home = filepath.Join(user, ".torchx")
	}
	return e.Absolute(home), nil
}

// Absolute resolves a path that the user gave against the working folder. The shell
// leaves the ~ of --flag=~/path alone, so it is expanded here.
func (e Environment) Absolute(path string) string {
	if expanded, err := userpath.Expand(path, e.Get("HOME")); err == nil {
		path = expanded
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.Dir, path)
}

// ShortPath returns a path relative to the working folder or to ~, whichever is
// shorter.
func (f *Factory) ShortPath(path string) string {
	short := path
	for _, from := range []struct{ dir, as string }{{f.Env.Dir, ""}, {f.Env.Get("HOME"), "~/"}} {
		rest, ok := strings.CutPrefix(path, strings.TrimSuffix(from.dir, "/")+"/")
		if ok && from.dir != "" && len(from.as+rest) < len(short) {
			short = from.as + rest
		}
	}
	return short
}

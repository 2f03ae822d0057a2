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

	"torchx/backends/driver"
	"torchx/runtime/backend"
	"torchx/runtime/safefile"
)

// Environment holds what a command sees of its process; tests make their own.
type Environment struct {
	Vars    []string // "K=V"
	Dir     string   // the working folder, absolute; "." if it was deleted
	Exe     string   // this program, for detached agents
	Signals <-chan os.Signal
	// Exit ends the process when it needs too much memory; nil: the process has other work.
	Exit func(code int)
	// Registry opens the backends of one TORCHX_HOME.
	Registry func(driver.Env) *backend.Registry
}

// noFolder is Dir if the working folder was deleted.
const noFolder = "."

// needFolder lists the commands that read or write files in the working folder, or run
// replicas there.
var needFolder = []string{"run", "sweep", "submit", "component", "lib", "migrate", "lsp", "diff", "configure", "config"}

// checkFolder returns an error if a command needs the working folder and it was deleted:
// paths would lead elsewhere.
func (e Environment) checkFolder(command string) error {
	name, _, _ := strings.Cut(command, " ")
	if e.Dir == noFolder && slices.Contains(needFolder, name) {
		return fmt.Errorf("the working folder was deleted: change to another folder (`torchx %s` needs one)", command)
	}
	return nil
}

// ProcessEnv returns the environment of this process and starts to receive its signals. registry
// is Environment.Registry.
func ProcessEnv(registry func(driver.Env) *backend.Registry) Environment {
	dir, err := os.Getwd()
	if err != nil {
		dir = noFolder
	}
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return Environment{
		Vars: os.Environ(), Dir: dir, Exe: exe, Signals: listen(), Exit: os.Exit, Registry: registry,
	}
}

// listen registers the signals that end a command. SIGPIPE is registered so that a closed
// pipe is an error instead of a silent death; ignoring it instead would be inherited by
// children. An ignored SIGHUP (nohup) stays ignored.
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

// InDir returns a copy of the environment whose working folder is dir.
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

// homeParts lists the home and the parts of it that must belong to the user.
var homeParts = []string{"", "apps", "live", "queue", "unrecorded", "archive", "ends", HistoryFile}

// Home returns the folder that holds everything: $TORCHX_HOME, else ~/.torchx. A home of
// another user is an error.
func (e Environment) Home() (string, error) {
	home, err := e.homePath()
	if err != nil {
		return "", err
	}
	for _, part := range homeParts {
		var foreign *safefile.OwnerError
		if err := safefile.CheckOwner(filepath.Join(home, part)); errors.As(err, &foreign) {
			return "", fmt.Errorf("%w: run torchx as that user (sudo -u %s torchx …), or set TORCHX_HOME to your own folder", err, foreign.Name)
		}
	}
	return home, nil
}

func (e Environment) homePath() (string, error) {
	home := e.Get("TORCHX_HOME")
	if home == "" {
		user := cmp.Or(e.Get("HOME"), e.Get("USERPROFILE")) // Windows has the second
		if user == "" {
			return "", errors.New("the home folder is unknown: set TORCHX_HOME or HOME")
		}
		home = filepath.Join(user, ".torchx")
	}
	return e.Absolute(home), nil
}

// Absolute resolves a path from the command line against the working folder. It expands ~,
// which the shell does not do in --flag=~/path.
func (e Environment) Absolute(path string) string {
	if expanded, err := safefile.ExpandHome(path, e.Get("HOME")); err == nil {
		path = expanded
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.Dir, path)
}

// ShortPath returns the shortest form of a path: absolute, relative to the working folder,
// or with ~.
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

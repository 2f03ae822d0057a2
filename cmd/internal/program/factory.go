package program

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/runner"
	"torchx/state"
)

// tool is one run of the program: its streams, what the global flags say, and
// what commands share, opened on first use so that start-up costs nothing.
type Factory struct {
	*ui.Console
	Env        Environment
	Interrupts *interrupts
	Display    *ui.Display
	def        Definition
	app        *cli.App      // the command line, once it is defined
	Given      backend.Layer // -cfg of a command that submits nothing: where to look
	offline    bool          // the user forbids the network
	Random     func() uint64 // makes the ids of apps; nil: they are new each time

	Backends *backend.Registry
	Db       *state.DB
	Conf     *config.Config
	runs     *runner.Runner
}

func NewFactory(s ui.Streams, env Environment, def Definition, i *interrupts) *Factory {
	t := &Factory{Console: ui.NewConsole(s), Env: env, Interrupts: i, def: def}
	t.Rules = sync.OnceValues(t.SecretRules)
	if env.Get("NO_COLOR") == "" && env.Get("TERM") != "dumb" {
		t.OutStyle.Color = ui.IsTerminal(s.Out)
		t.ErrStyle.Color = ui.IsTerminal(s.Err)
	}
	t.Display = ui.NewDisplay(t.Console, env.Get("TERM") == "dumb")
	return t
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

func (e Environment) Get(name string) string {
	v, _ := e.Lookup(name)
	return v
}

// Home is the folder that holds everything: $TORCHX_HOME, else ~/.torchx.
func (e Environment) Home() (string, error) {
	home := e.Get("TORCHX_HOME")
	if home == "" {
		user := e.Get("HOME")
		if user == "" {
			user = e.Get("USERPROFILE") // Windows
		}
		if user == "" {
			return "", errors.New("no home folder is known: set TORCHX_HOME or HOME")
		}
		home = filepath.Join(user, ".torchx")
	}
	return e.Absolute(home), nil
}

// Absolute resolves a path of the user's against the working folder.
func (e Environment) Absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.Dir, path)
}

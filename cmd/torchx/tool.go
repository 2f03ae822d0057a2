package main

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/runner"
	"torchx/state"

	"github.com/urfave/cli/v2"
)

// tool is one run of the program: its streams, what the global flags say, and
// what commands share, opened on first use so that start-up costs nothing.
type tool struct {
	*console
	env        environment
	interrupts *interrupts
	display    *display
	def        definition
	app        *cli.App      // the command line, once it is defined
	given      backend.Layer // -cfg of a command that submits nothing: where to look
	offline    bool          // the user forbids the network
	random     func() uint64 // makes the ids of apps; nil: they are new each time

	backends *backend.Registry
	db       *state.DB
	conf     *config.Config
	runs     *runner.Runner
}

func newTool(s streams, env environment, i *interrupts) *tool {
	t := &tool{console: newConsole(s), env: env, interrupts: i}
	t.rules = sync.OnceValues(t.secretRules)
	if env.get("NO_COLOR") == "" && env.get("TERM") != "dumb" {
		t.outStyle.color = isTerminal(s.out)
		t.errStyle.color = isTerminal(s.err)
	}
	t.display = newDisplay(t.console, env.get("TERM") == "dumb")
	return t
}

// lookup returns a variable of the environment.
func (e environment) lookup(name string) (string, bool) {
	for i := len(e.vars) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(e.vars[i], "="); ok && k == name {
			return v, true
		}
	}
	return "", false
}

func (e environment) get(name string) string {
	v, _ := e.lookup(name)
	return v
}

// home is the folder that holds everything: $TORCHX_HOME, else ~/.torchx.
func (e environment) home() (string, error) {
	home := e.get("TORCHX_HOME")
	if home == "" {
		user := e.get("HOME")
		if user == "" {
			user = e.get("USERPROFILE") // Windows
		}
		if user == "" {
			return "", errors.New("no home folder is known: set TORCHX_HOME or HOME")
		}
		home = filepath.Join(user, ".torchx")
	}
	return e.absolute(home), nil
}

// absolute resolves a path of the user's against the working folder.
func (e environment) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(e.dir, path)
}

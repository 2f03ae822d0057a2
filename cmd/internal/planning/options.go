package planning

import (
	"cmp"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/starlark/component"
)

// Options say what to plan: from flags and .torchxconfig, from the JSON of run --stdin,
// or from the history.
type Options struct {
	Command      string // that errors name: run, rerun, diff or config
	Backend      string
	Cfg          string
	CfgJSON      map[string]any // of --stdin, instead of Cfg
	Env          []string       // K=V
	Workspace    string
	HasWorkspace bool // a workspace, or none, was chosen
	ParentRunID  string
	Tags         []string // KEY or KEY=VALUE
	Note         string
	Strict       bool // refuse a role that does not say which resources it needs
	TTY          bool // --tty
	Submit       bool // the plan is for submission, not only for looking at
	Component    string
	Inputs       component.Inputs

	recordedCfg backend.Layer // of a past app, instead of the config files
}

// DefaultBackend fills in and checks the backend: the one given, else that of [cli:run],
// else the first.
func (o *Options) DefaultBackend(f *program.Factory, conf *config.Config) error {
	defaults := conf.Cli("run")
	o.Backend = cmp.Or(o.Backend, defaults["scheduler"], defaults["backend"])
	if o.Backend != "" {
		_, err := f.Canonical(o.Command, o.Backend)
		return err
	}
	reg, err := f.Registry()
	if err != nil {
		return err
	}
	o.Backend = reg.Names()[0]
	return nil
}

// CommandText returns a component and its arguments as they would be typed, with what
// looks like a secret hidden.
func CommandText(f *program.Factory, name string, args []string) string {
	words := []string{name}
	for _, arg := range f.MaskedArgs(args) {
		words = append(words, ui.QuoteWord(arg))
	}
	return strings.Join(words, " ")
}

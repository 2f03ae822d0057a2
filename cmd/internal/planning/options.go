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

// Options select what to plan. They come from flags and .torchxconfig, from the JSON of
// run --stdin, or from the history.
type Options struct {
	Command      string // for errors: run, rerun, diff or config
	Backend      string
	Cfg          string
	CfgJSON      map[string]any // of JSON; Cfg overrides it
	CfgOrigin    string         // where CfgJSON is from, for errors
	Env          []string       // NAME=VALUE or NAME
	EnvFiles     []string       // --env-file, absolute
	Workspace    string
	HasWorkspace bool // --workspace was given, maybe empty
	ParentRunID  string
	Tags         []string // KEY or KEY=VALUE
	Note         string
	Metrics      []string // NAME=REGEX
	Timeout      string   // --timeout; "": that of the component
	After        []string // --after: HANDLE[:ok|any]; an only empty one: none
	Strict       bool     // refuse a role that requests no resources
	TTY          bool     // --tty
	Submit       bool     // the plan is submitted, not only shown
	Component    string
	Inputs       component.Inputs

	Ends

	used        []string      // origins of values of the project's file, other than -cfg
	recordedCfg backend.Layer // -cfg of a past app, instead of the config files
	recordedEnv *Recorded     // its variables, instead of the files of the config files
}

// DefaultBackend sets Backend, if it is empty, to that of [cli:run] or else to the first,
// and checks it.
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

// ApplyConfig sets the component and the workspace from [cli:run] if they are not given.
func (o *Options) ApplyConfig(conf *config.Config) error {
	defaults := conf.Cli("run")
	if text, ok := defaults["workspace"]; ok && !o.HasWorkspace {
		o.Workspace, o.HasWorkspace = text, true
		o.use(conf, "cli:run", "workspace")
	}
	if o.Component = cmp.Or(o.Component, defaults["component"]); o.Component == "" {
		return program.Usagef(o.Command, "missing COMPONENT: `torchx component list` lists the components, FILE.star:FUNCTION names one in a file")
	}
	return nil
}

// SplitComponent returns the component and its arguments. If the first word is an option
// (after --), all words are arguments of the component of [cli:run], as in TorchX.
func SplitComponent(words []string) (name string, args []string) {
	if len(words) == 0 || strings.HasPrefix(words[0], "-") {
		return "", words
	}
	return words[0], words[1:]
}

// CommandText returns a component with its arguments as a command line, with secrets hidden.
func CommandText(f *program.Factory, name string, args []string) string {
	words := []string{name}
	for _, arg := range f.MaskedArgs(args) {
		words = append(words, ui.QuoteWord(arg))
	}
	return strings.Join(words, " ")
}

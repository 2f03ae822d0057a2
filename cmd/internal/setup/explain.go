package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/secrets"
	"torchx/starlark/component"
)

// The sources of a value.
const (
	sourceFlag     = "flag"        // -cfg on this command line
	sourceFile     = "file"        // a line of a .torchxconfig
	sourceEnv      = "environment" // an environment variable
	sourceAlias    = "alias"       // a default of a backend's alias
	sourceDefault  = "default"
	sourceRequired = "required" // a required value is missing
	sourceNone     = "none"
)

// given is a value and its source.
type given struct {
	Value  any           `json:"value"`  // nil for none
	Source string        `json:"source"` // one of the sources
	Origin ui.NullString `json:"origin"` // FILE:LINE, $VARIABLE, -cfg or the alias; "" for a default
}

// setting is a key with its effective value.
type setting struct {
	Key string `json:"key"`
	given
	Problem ui.NullString `json:"problem"` // why the value cannot be used
	Hidden  []given       `json:"hidden"`  // overridden values
}

func newSetting(key string, v given) setting { return setting{Key: key, given: v, Hidden: []given{}} }

// explained is what `config explain --json` prints.
type explained struct {
	Files     []string      `json:"files"` // the first one wins
	Settings  []setting     `json:"settings"`
	Backend   string        `json:"backend"`
	Options   []setting     `json:"options"`
	Component ui.NullString `json:"component"`
	Arguments []setting     `json:"arguments"`
	Notes     []string      `json:"notes"` // keys and sections without effect, one line each
}

// explainer builds an explanation.
type explainer struct {
	*program.Factory
	conf  *config.Config
	rules *secrets.Rules
	out   *explained
}

func explainConfig(ctx context.Context, f *program.Factory, o configOptions) (*explained, error) {
	conf, err := f.Config()
	if err != nil {
		return nil, err
	}
	rules, err := f.Rules()
	if err != nil {
		return nil, err
	}
	x := &explainer{Factory: f, conf: conf, rules: rules, out: &explained{Files: append([]string{}, conf.Files()...), Arguments: []setting{}, Notes: []string{}}}
	if err := x.settings(); err != nil {
		return nil, err
	}
	if err := x.backend(o.backend, o.cfg); err != nil {
		return nil, err
	}
	if o.component != "" {
		if err := x.component(ctx, o.component); err != nil {
			return nil, err
		}
	}
	return x.out, x.unusedSections(o)
}

func (x *explainer) note(text string) {
	if !slices.Contains(x.out.Notes, text) {
		x.out.Notes = append(x.out.Notes, text)
	}
}

// shown returns a value, masked if it looks like a secret.
func (x *explainer) shown(key string, value any) any {
	if x.ShowSecrets || value == nil || key == "secrets" { // the values of "secrets" are names
		return value
	}
	switch v := value.(type) {
	case map[string]string:
		shown := map[string]string{}
		for k, text := range v {
			shown[k] = x.rules.Value(k, text)
		}
		return shown
	case []string:
		return x.rules.Args(v)
	}
	text := backend.FormatValue(value)
	if hidden := x.rules.Value(key, text); hidden != text {
		return hidden
	}
	return value
}

// shownOption is shown for the value of an option, or for its text as given.
func (x *explainer) shownOption(e *backend.Explained, value any) any {
	text, isText := value.(string)
	if !isText || e.Type != backend.TypeMap || x.ShowSecrets {
		return x.shown(e.Key, value)
	}
	entries := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' })
	for i, entry := range entries {
		if key, value, ok := strings.Cut(entry, ":"); ok {
			entries[i] = key + ":" + x.rules.Value(strings.TrimSpace(key), value)
		}
	}
	return x.shown(e.Key, strings.Join(entries, ";"))
}

// backend explains the options of a backend.
func (x *explainer) backend(name, cfg string) error {
	o := planning.Options{Command: "config", Backend: name, Cfg: cfg}
	if err := o.DefaultBackend(x.Factory, x.conf); err != nil {
		return err
	}
	reg, err := x.Registry()
	if err != nil {
		return err
	}
	alias, err := x.Canonical("config", o.Backend)
	if err != nil {
		return err
	}
	b, err := reg.Get(alias.Backend)
	if err != nil {
		return err
	}
	layers, err := planning.CfgLayers(x.Factory, o, x.conf)
	if err != nil {
		return err
	}
	for _, w := range backend.Unused(b.Options(), layers...) {
		x.note(w)
	}
	r, err := x.Planner()
	if err != nil {
		return err
	}
	hidden, err := r.HiddenLayers(x.conf, o.Backend)
	if err != nil {
		return err
	}
	layers = append(append(layers, hidden...), backend.DefaultsLayer(alias.Defaults, o.Backend))
	if err := x.CheckOrigins(program.ProjectOrigins(b.Options(), layers...)...); err != nil {
		x.note(err.Error())
	}
	x.out.Backend = alias.Backend
	for _, e := range backend.Explain(b.Options(), layers...) {
		x.out.Options = append(x.out.Options, x.option(&e, o.Backend))
	}
	return nil
}

// option explains one option; alias is the user's name for the backend.
func (x *explainer) option(e *backend.Explained, alias string) setting {
	at := newSetting(e.Key, given{Value: x.shownOption(e, e.Value), Source: sourceDefault})
	source := func(v *backend.Value) string {
		switch v.Origin {
		case "-cfg":
			return sourceFlag
		case alias:
			return sourceAlias
		}
		if strings.HasPrefix(v.Origin, "$") {
			return sourceEnv
		}
		return sourceFile
	}
	switch {
	case len(e.Given) > 0:
		at.Source, at.Origin = source(&e.Given[0]), ui.NullString(e.Given[0].Origin)
		for i := range e.Given[1:] {
			v := &e.Given[i+1]
			at.Hidden = append(at.Hidden, given{x.shownOption(e, v.Text), source(v), ui.NullString(v.Origin)})
		}
	case e.Required:
		at.Source = sourceRequired
	case e.Value == nil:
		at.Source = sourceNone
	}
	if e.Err != nil {
		at.Problem = ui.NullString(fmt.Sprintf("%s: option %s: %v", at.Origin, e.Key, e.Err))
	}
	return at
}

// component explains the defaults of a component's arguments.
func (x *explainer) component(ctx context.Context, ref string) error {
	loader, err := x.Loader()
	if err != nil {
		return err
	}
	found, err := loader.Find(ctx, ref)
	if err != nil {
		return err
	}
	name, ignored := x.conf.ComponentName(found.ConfigNames())
	for _, text := range ignored {
		x.note(text)
	}
	section := "component:" + name
	values := map[string]config.Value{}
	var names []string
	for i := range found.Params {
		names = append(names, found.Params[i].Name)
	}
	for _, v := range x.conf.Section(section) {
		key := strings.ReplaceAll(v.Key, "-", "_")
		if !slices.Contains(names, key) {
			x.unknown(v, "parameter of "+found.Name, names)
			continue
		}
		values[key] = v
	}
	x.out.Component = ui.NullString(found.Name)
	for i := range found.Params {
		p := &found.Params[i]
		at := x.argument(p, values)
		for _, v := range x.conf.Hidden(section) {
			if strings.ReplaceAll(v.Key, "-", "_") == p.Name {
				at.Hidden = append(at.Hidden, x.configured(v, p.Name))
			}
		}
		x.out.Arguments = append(x.out.Arguments, at)
	}
	return nil
}

func (x *explainer) argument(p *component.Param, values map[string]config.Value) setting {
	at := newSetting(p.Name, given{Source: sourceDefault})
	v, isSet := values[p.Name]
	switch {
	case isSet && !v.IsNone(): // None means the default
		at.given = x.configured(v, p.Name)
		if err := p.CheckConfig(v.Text); err != nil {
			at.Problem = ui.NullString(fmt.Sprintf("%s: argument %s: %v", at.Origin, p.Name, err))
		}
	case p.Required:
		at.Source = sourceRequired
	case p.Variadic:
		at.Source = sourceNone
	default:
		at.Value = x.shown(p.Name, p.Default)
	}
	return at
}

func valueText(v any) string {
	switch v {
	case nil:
		return "-"
	case "":
		return `""`
	}
	return backend.FormatValue(v)
}

package component

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/starlark"

	"torchx/runtime/humanize"
	"torchx/starlark/specmodule"
)

// Inputs are the values for a component's parameters. Args override JSON, JSON overrides Config,
// Config overrides defaults.
type Inputs struct {
	// Args follow the component's name on the command line.
	Args []string
	// Recorded are the Args of an earlier run; Args override them one by one.
	Recorded []string
	// JSON holds decoded values by parameter name, or strings as they would be typed. null is None.
	JSON map[string]any
	// Config is a [component:NAME] section of .torchxconfig; "None" is None.
	Config map[string]string
	// ConfigName is the NAME of that section, "" for the component's own.
	ConfigName string
}

// boundArgs are the arguments of a call, the words they came from, and warnings about them.
type boundArgs struct {
	args     starlark.Tuple
	kwargs   []starlark.Tuple
	typed    []string // the effective arguments, as typed
	warnings []string
}

// configError is an error in a config file. All others are usage errors (exit code 2).
type configError struct{ error }

// bind reads all values. Errors: ErrHelp; *UsageError for arguments and JSON; others for a config
// file.
func (c *Component) bind(in Inputs) (*boundArgs, error) {
	typed, err := mergeRecorded(c.Params, in.Recorded, in.Args)
	var recorded recordedError
	switch {
	case errors.As(err, &recorded):
		return nil, fmt.Errorf("%s: %w", c.Ref, err)
	case err != nil:
		return nil, c.usage(err)
	}
	line, err := parseArgs(c.Params, typed)
	if err != nil {
		return nil, c.usage(err)
	}
	b := &binder{params: c.Params, line: line, section: "config section [component:" + cmp.Or(in.ConfigName, c.Name) + "]"}
	out, err := b.read(in)
	var config configError
	var resource *unknownResourceError
	switch {
	case errors.As(err, &config):
		return nil, config.error
	case errors.As(err, &resource):
		return nil, fmt.Errorf("%s: %w", c.Ref, err)
	case err != nil:
		return nil, c.usage(err)
	}
	out.typed = typed
	names := paramNames(c.Params)
	unknown := unknownKeys(b.config, names)
	for i, name := range unknown {
		if i == maxWarnings {
			out.warnings = append(out.warnings, fmt.Sprintf("%s: ignored %d more unknown parameters.", b.section, len(unknown)-i))
			break
		}
		out.warnings = append(out.warnings, fmt.Sprintf("%s: ignored unknown parameter %s.%s", b.section, humanize.Quote(name), humanize.Hint(name, names)))
	}
	return out, nil
}

// maxWarnings bounds the warnings about one section.
const maxWarnings = 20

// usage converts an error about arguments to a *UsageError, except ErrHelp.
func (c *Component) usage(err error) error {
	if errors.Is(err, ErrHelp) {
		return err
	}
	return &UsageError{Component: c.Ref, Text: oneLine(err.Error())}
}

// byParam replaces "-" by "_" in the keys.
func byParam[V any](m map[string]V) (map[string]V, error) {
	out := make(map[string]V, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		name := underscores(key)
		if _, repeated := out[name]; repeated {
			return nil, fmt.Errorf("repeated argument %s", name)
		}
		out[name] = m[key]
	}
	return out, nil
}

type binder struct {
	params  []Param
	line    *commandLine
	json    map[string]any
	config  map[string]string
	section string // where config comes from, for messages
}

func (b *binder) read(in Inputs) (*boundArgs, error) {
	var err error
	if b.json, err = byParam(in.JSON); err != nil {
		return nil, err
	}
	if b.config, err = byParam(in.Config); err != nil {
		return nil, configError{fmt.Errorf("%s: %w", b.section, err)}
	}
	names := paramNames(b.params)
	for _, name := range unknownKeys(b.json, names) {
		return nil, fmt.Errorf("unknown argument %s in JSON.%s", humanize.Quote(name),
			humanize.Hint(name, names))
	}
	return b.bind()
}

// Configured returns the parameters that in.Config sets because nothing stronger does, or all of
// in.Config if the arguments cannot be read.
func (c *Component) Configured(in Inputs) (names []string) {
	line := &commandLine{}
	if typed, err := mergeRecorded(c.Params, in.Recorded, in.Args); err == nil {
		if read, err := parseArgs(c.Params, typed); err == nil {
			line = read
		}
	}
	json, _ := byParam(in.JSON)
	for key := range in.Config {
		_, given := line.given[underscores(key)]
		if _, inJSON := json[underscores(key)]; !given && !inJSON {
			names = append(names, underscores(key))
		}
	}
	return names
}

func paramNames(params []Param) []string {
	names := make([]string, len(params))
	for i := range params {
		names[i] = params[i].Name
	}
	return names
}

// unknownKeys lists the keys of m that are not among names, sorted.
func unknownKeys[V any](m map[string]V, names []string) []string {
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m)), func(key string) bool { return known[key] })
}

func (b *binder) bind() (*boundArgs, error) {
	out := &boundArgs{}
	var missing []string
	for i := range b.params {
		p := &b.params[i]
		if p.Variadic {
			if err := b.bindRest(p, out); err != nil {
				return nil, err
			}
			continue
		}
		v, err := b.value(p)
		switch {
		case err != nil:
			return nil, err
		case v != nil && p.keyword:
			out.kwargs = append(out.kwargs, starlark.Tuple{starlark.String(p.Name), v})
		case v != nil:
			out.args = append(out.args, v)
		case p.Required:
			missing = append(missing, p.Flag())
		case !p.keyword:
			// A default is passed too: otherwise *args would take its position.
			out.args = append(out.args, p.def)
		}
	}
	switch len(missing) {
	case 0:
		return out, nil
	case 1:
		return nil, fmt.Errorf("missing required argument %s", missing[0])
	default:
		return nil, fmt.Errorf("missing required arguments %s", humanize.List(missing))
	}
}

// value returns the value of a parameter, nil if none is given.
func (b *binder) value(p *Param) (starlark.Value, error) {
	if text, ok := b.line.given[p.Name]; ok {
		v, err := p.orEmpty(p.Type.parseText(text))
		return v, aboutParam(p, err)
	}
	if decoded, ok := b.json[p.Name]; ok {
		if decoded == nil {
			v, err := noneValue(p)
			return v, aboutParam(p, err)
		}
		v, err := p.orEmpty(p.Type.fromJSON(decoded))
		return v, aboutParam(p, err)
	}
	if text, ok := b.config[p.Name]; ok {
		v, err := fromConfig(p, text)
		if err != nil {
			return nil, configError{fmt.Errorf("%s: %s: %w", b.section, p.Name, err)}
		}
		return v, nil
	}
	return nil, nil
}

// CheckConfig returns an error if text, from a config section, is not a value of the parameter.
func (p *Param) CheckConfig(text string) error {
	if p.Variadic {
		_, err := p.parseWords(text)
		return err
	}
	_, err := fromConfig(p, text)
	return err
}

func fromConfig(p *Param, text string) (starlark.Value, error) {
	if text == "None" {
		return noneValue(p)
	}
	return p.orEmpty(p.Type.parseText(text))
}

// orEmpty replaces the None of an empty text by an empty list or dict, unless the default is None
// or the type has a "?". TorchX always passes None.
func (p *Param) orEmpty(v starlark.Value, err error) (starlark.Value, error) {
	if err != nil || v != starlark.None || p.def == starlark.None || p.Type.Optional {
		return v, err
	}
	if p.Type.Kind == Dict {
		return starlark.NewDict(0), nil
	}
	return starlark.NewList(nil), nil
}

// bindRest binds *args, the last parameter.
func (b *binder) bindRest(p *Param, out *boundArgs) error {
	values, err := b.rest(p)
	out.args = append(out.args, values...)
	return err
}

// rest returns the values of *args: from the command line, else from JSON (where it is a list),
// else from the config file.
func (b *binder) rest(p *Param) ([]starlark.Value, error) {
	if len(b.line.rest) > 0 {
		values, err := p.parseAll(b.line.rest)
		return values, aboutParam(p, err)
	}
	decoded, inJSON := b.json[p.Name]
	if text, ok := decoded.(string); ok {
		values, err := p.parseWords(text)
		return values, aboutParam(p, err)
	}
	if text, ok := b.config[p.Name]; ok && !inJSON {
		values, err := p.parseWords(text)
		if err != nil {
			err = configError{fmt.Errorf("%s: %s: %w", b.section, p.Name, err)}
		}
		return values, err
	}
	list := *p
	list.Type = p.Type.list()
	v, err := b.value(&list)
	if values, ok := v.(*starlark.List); ok {
		return slices.Collect(values.Elements()), nil
	}
	return nil, err
}

// parseWords reads arguments from a text, separated and quoted as in a shell. A leading "--" is
// dropped, as on the command line. "None" means no arguments.
func (p *Param) parseWords(text string) ([]starlark.Value, error) {
	if text == "None" {
		return nil, nil
	}
	words, err := specmodule.SplitWords(text)
	if err != nil {
		return nil, err
	}
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	return p.parseAll(words)
}

func (p *Param) parseAll(words []string) ([]starlark.Value, error) {
	values := make([]starlark.Value, len(words))
	for i, text := range words {
		v, err := p.Type.parseText(text)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

// noneValue returns None if the parameter accepts it.
func noneValue(p *Param) (starlark.Value, error) {
	if !p.nullable() {
		return nil, fmt.Errorf("cannot be None (type %s)", p.Type.Brief())
	}
	return starlark.None, nil
}

// aboutParam adds the parameter to an error about its value.
func aboutParam(p *Param, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", p.Flag(), err)
}

// Arguments reads a command line for fn, a loaded component, and returns the arguments to call it
// with. resources are those of its project. Errors are one line.
func Arguments(
	fn *starlark.Function, args []string, resources ...specmodule.NamedResource,
) (starlark.Tuple, []starlark.Tuple, error) {
	src := newSource(fn, nil, resources)
	params, err := src.params()
	if err != nil {
		return nil, nil, err
	}
	c := &Component{Name: fn.Name(), Ref: fn.Name(), Params: params}
	b, err := c.bind(Inputs{Args: args})
	var usage *UsageError
	switch {
	case errors.As(err, &usage):
		return nil, nil, errors.New(usage.Text)
	case err != nil:
		return nil, nil, err
	}
	return b.args, b.kwargs, nil
}

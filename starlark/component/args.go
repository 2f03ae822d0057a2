package component

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"torchx/runtime/humanize"
)

// commandLine is the parsed command line of a component, with values as text.
type commandLine struct {
	given map[string]string // text by parameter name
	rest  []string          // for *args
	// closed is set once the values for *args have begun, perhaps with a final "--".
	closed  bool
	options []typedOption // as typed, in order
}

// typedOption is an option as typed, in one or two words.
type typedOption struct {
	param string
	words []string
}

// parseArgs sorts arguments into parameters:
//
//   - --name value and --name=value, where "-" and "_" in the name are the same;
//     -x value and -x=value for parameters of one letter;
//   - a bool without a value, before another option or at the end, is true;
//   - a value that starts with "-" needs "=", except a negative number where a number is expected;
//   - the first argument that is not an option and all arguments after it go to *args
//     unchanged; a "--" before them is dropped.
//
// The error is ErrHelp, or one line for a UsageError.
func parseArgs(params []Param, args []string) (*commandLine, error) {
	p := newArgParser(params, args)
	for p.at < len(p.args) {
		arg := p.args[p.at]
		switch {
		case arg == "--":
			p.out.closed = true
			return p.out, p.positional(p.args[p.at+1:])
		case isPositional(arg):
			p.out.closed = true
			return p.out, p.positional(p.args[p.at:])
		}
		p.at++
		if err := p.option(arg); err != nil {
			return nil, err
		}
	}
	return p.out, nil
}

type argParser struct {
	params []Param
	index  map[string]int // of params, by name
	args   []string
	at     int // the next argument
	out    *commandLine
}

func newArgParser(params []Param, args []string) *argParser {
	p := &argParser{params: params, index: map[string]int{}, args: args, out: &commandLine{given: map[string]string{}}}
	for i := range params {
		p.index[params[i].Name] = i
	}
	return p
}

// isPositional reports whether arg is not an option: "-" alone and negative numbers are not
// options.
func isPositional(arg string) bool {
	return len(arg) < 2 || arg[0] != '-' || isNegative(arg)
}

func isNegative(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' || !strings.ContainsRune(".0123456789", rune(arg[1])) {
		return false
	}
	_, ok := readFloat(arg)
	return ok
}

func (p *argParser) positional(rest []string) error {
	if len(rest) == 0 {
		return nil
	}
	if !slices.ContainsFunc(p.params, func(q Param) bool { return q.Variadic }) {
		name, _, _ := strings.Cut(strings.TrimLeft(rest[0], "-"), "=")
		return fmt.Errorf("unexpected argument %s: the component takes only options%s",
			humanize.Quote(rest[0]), p.hint(name))
	}
	p.out.rest = slices.Clone(rest)
	return nil
}

// names lists the parameters that have options.
func (p *argParser) names() []string {
	var names []string
	for i := range p.params {
		if !p.params[i].Variadic {
			names = append(names, p.params[i].Name)
		}
	}
	return names
}

func underscores(name string) string { return strings.ReplaceAll(name, "-", "_") }

// option reads one option and its value.
func (p *argParser) option(arg string) error {
	first := p.at - 1
	name, value, hasValue := strings.Cut(arg, "=")
	param, err := p.find(name)
	if err != nil {
		return err
	}
	if _, repeated := p.out.given[param.Name]; repeated {
		return fmt.Errorf("repeated argument %s", param.Flag())
	}
	if !hasValue {
		if value, err = p.value(param, name); err != nil {
			return err
		}
	}
	p.out.given[param.Name] = value
	p.out.options = append(p.out.options, typedOption{param.Name, p.args[first:p.at]})
	return nil
}

// find returns the parameter of an option without its "=" and value.
func (p *argParser) find(option string) (*Param, error) {
	long := strings.HasPrefix(option, "--")
	name := underscores(strings.TrimPrefix(strings.TrimPrefix(option, "-"), "-"))
	if i, ok := p.index[name]; ok {
		if q := &p.params[i]; !q.Variadic && (long || q.Short()) {
			return q, nil
		}
	}
	if option == "--help" || option == "-h" {
		return nil, ErrHelp
	}
	return nil, p.unknown(option, name)
}

// Option returns the parameter that the option --name sets. The error is a *UsageError, with the
// suggestion that Build makes.
func (c *Component) Option(name string) (*Param, error) {
	p := newArgParser(c.Params, nil)
	option := "--" + name
	param, err := p.find(option)
	if errors.Is(err, ErrHelp) {
		err = p.unknown(option, name)
	}
	if err != nil {
		return nil, c.usage(err)
	}
	return param, nil
}

func (p *argParser) unknown(option, name string) error {
	for i := range p.params {
		q := &p.params[i]
		if q.Variadic && q.Name == name {
			return fmt.Errorf("unknown option %s: pass the values of %s at the end, after --",
				humanize.Quote(option), q.Name)
		}
	}
	if hint := p.hint(name); hint != "" {
		return fmt.Errorf("unknown option %s%s", humanize.Quote(option), hint)
	}
	// -j2 is refused, with a hint to -j 2.
	first, size := utf8.DecodeRuneInString(strings.TrimPrefix(option, "-"))
	if !strings.HasPrefix(option, "--") && slices.Contains(p.names(), string(first)) {
		return fmt.Errorf("unknown option %s. Did you mean -%c %s?", humanize.Quote(option),
			first, option[1+size:])
	}
	return fmt.Errorf("unknown option %s", humanize.Quote(option))
}

// hint returns `. Did you mean --x?` if a parameter has a similar name.
func (p *argParser) hint(name string) string {
	closest, ok := humanize.Closest(underscores(name), p.names())
	if !ok {
		return ""
	}
	i := slices.IndexFunc(p.params, func(q Param) bool { return q.Name == closest })
	return ". Did you mean " + p.params[i].Flag() + "?"
}

// value takes the next argument as the value of an option.
func (p *argParser) value(param *Param, option string) (string, error) {
	more := p.at < len(p.args)
	if more {
		next := p.args[p.at]
		if len(next) < 2 || next[0] != '-' || kinds[param.Type.Kind].signed && isNegative(next) {
			p.at++
			return next, nil
		}
	}
	switch {
	case param.IsSwitch():
		return kinds[param.Type.Kind].bare, nil
	case more && p.args[p.at] != "--":
		return "", fmt.Errorf("%s needs a value (if it starts with \"-\", write %s)", option,
			humanize.Quote(option+"="+p.args[p.at]))
	default:
		return "", fmt.Errorf("%s needs a value", option)
	}
}

// recordedError says that the arguments of an earlier run no longer fit. It is not a usage error.
type recordedError struct{ error }

func (e recordedError) Unwrap() error { return e.error }

// mergeRecorded joins the arguments of an earlier run with new ones. A new option replaces the
// recorded one of its parameter, new values for *args replace all recorded ones, and a final "--"
// removes those. Errors: those of parseArgs, a recordedError.
func mergeRecorded(params []Param, recorded, args []string) ([]string, error) {
	if len(recorded) == 0 {
		return args, nil
	}
	current, err := parseArgs(params, args)
	if err != nil {
		return nil, err
	}
	earlier, err := parseArgs(params, recorded)
	if errors.Is(err, ErrHelp) {
		err = errors.New("--help is one of them") // the new arguments do not ask for help
	}
	if err != nil {
		return nil, recordedError{fmt.Errorf("the recorded arguments no longer fit: %w", err)}
	}
	if len(args) == 0 {
		return recorded, nil
	}
	var out []string
	for _, o := range earlier.options {
		if _, replaced := current.given[o.param]; !replaced {
			out = append(out, o.words...)
		}
	}
	for _, o := range current.options {
		out = append(out, o.words...)
	}
	rest := earlier.rest
	if current.closed {
		rest = current.rest
	}
	if len(rest) > 0 {
		// Without "--" a switch before them would take the first as its value.
		out = append(append(out, "--"), rest...)
	}
	return slices.Clip(out), nil
}

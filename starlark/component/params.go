package component

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
)

// Param is a parameter of a component.
type Param struct {
	Name string // as in the function, without stars
	Type Type   // the type of one element if Variadic
	Help string // one line, may be empty
	// Required is set if the parameter has no default.
	Required bool
	// Default is the default as it would be typed; "none" for None, "" if Required.
	Default string
	// Variadic is set for *args, which takes all positional arguments.
	Variadic bool

	def starlark.Value // nil if Required or Variadic
	// origin is the source of Default if that is not the function.
	origin string
	// keyword is set if the parameter can only be passed by name.
	keyword bool
}

// Short reports whether the parameter's name is one letter, so that -x works too.
func (p *Param) Short() bool { return utf8.RuneCountInString(p.Name) == 1 }

// IsSwitch reports whether the value of the option can be left out.
func (p *Param) IsSwitch() bool { return kinds[p.Type.Kind].bare != "" }

// Flag returns the parameter as typed: "--name", "-x".
func (p *Param) Flag() string {
	switch {
	case p.Variadic:
		return p.Name
	case p.Short():
		return "-" + p.Name
	default:
		return "--" + p.Name
	}
}

// nullable reports whether the parameter accepts None.
func (p *Param) nullable() bool {
	return p.Type.Optional || p.def == starlark.None || p.Type.isCompound()
}

// source is a function and its docstring.
type source struct {
	fn   *starlark.Function
	doc  Doc
	file string // of fn
	text func() *fileText
	// resources are those of the project, which a parameter of type resource can name.
	resources []specmodule.NamedResource
}

// newSource reads fn's docstring. text returns fn's file and is called only for errors; it may be
// nil.
func newSource(
	fn *starlark.Function, text func() *fileText, resources []specmodule.NamedResource,
) source {
	return source{fn, ParseDoc(fn.Doc()), fn.Position().Filename(), text, resources}
}

// docLine returns the line of the docstring's opening quotes, from 1.
func (s source) docLine() int {
	if s.text != nil {
		if def := s.text().definition(s.fn); def != nil && interp.Docstring(def.Body) != nil {
			return int(interp.Docstring(def.Body).TokenPos.Line)
		}
	}
	return int(s.fn.Position().Line)
}

// params lists the parameters in order, *args last. Errors are one line with file, line and
// argument.
func (s source) params() ([]Param, error) {
	if s.fn.HasKwargs() {
		return nil, s.fail(int(s.fn.Position().Line),
			"**kwargs cannot be given on a command line: name the parameters")
	}
	count := s.fn.NumParams()
	named := count
	if s.fn.HasVarargs() {
		named--
	}
	positional := named - s.fn.NumKwonlyParams()
	params := make([]Param, count)
	for i := range params {
		p, err := s.param(i, i == named)
		if err != nil {
			return nil, err
		}
		p.keyword = i >= positional
		params[i] = p
	}
	return params, nil
}

// param describes the i-th parameter; variadic is set for *args.
func (s source) param(i int, variadic bool) (Param, error) {
	name, pos := s.fn.Param(i)
	doc, _ := s.doc.Arg(name)
	p := Param{Name: name, Help: doc.Help, Variadic: variadic}
	if name == "help" {
		return p, s.fail(int(pos.Line), "a parameter cannot be named help: --help shows the component's help")
	}
	if !variadic {
		p.def = s.fn.ParamDefault(i)
		p.Required = p.def == nil
	}
	if doc.Type != "" {
		t, err := ParseType(doc.Type)
		if err != nil {
			return p, s.fail(s.docLine()+doc.Line, "argument %s: %v", name, err)
		}
		p.Type = t
	}
	if err := s.inferType(&p, int(pos.Line)); err != nil {
		return p, err
	}
	if !p.Required && !variadic {
		p.Default = p.Type.show(p.def)
	}
	return p, nil
}

// inferType infers a type that the docstring does not give, and checks the default.
func (s source) inferType(p *Param, line int) error {
	if p.Type.Kind == Unset {
		t, ok := typeOf(p.def)
		if !ok {
			return s.fail(line, "argument %s: its default is a %s, which cannot be typed on a command line: declare its type as `%s (str): …` in the docstring",
				p.Name, p.def.Type(), p.Name)
		}
		t.Optional = t.Optional || p.Type.Optional
		p.Type = t
	}
	if p.Variadic && p.Type.isCompound() {
		if p.Type.Kind == Dict {
			return s.fail(line, "argument *%s: its type describes one element and cannot be a dict", p.Name)
		}
		p.Type = p.Type.elem()
	}
	return s.checkDefault(p, line)
}

// checkDefault checks the default of a strict type. `component lint` checks the other types, for
// which TorchX accepts any default.
func (s source) checkDefault(p *Param, line int) error {
	if p.Type.has(Resource) {
		p.Type.Choices = specmodule.NamedResourceNames(s.resources...)
	}
	if p.Variadic || !kinds[p.Type.Kind].strict && !kinds[p.Type.Elem].strict {
		return nil
	}
	if err := p.Type.Check(p.def); err != nil {
		return s.fail(line, "argument %s: its default does not fit its type: %v", p.Name, err)
	}
	return nil
}

// fail returns an error about a line of the component's file.
func (s source) fail(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: component %s: %s", s.file, line, s.fn.Name(),
		oneLine(fmt.Sprintf(format, args...)))
}

// oneLine replaces unprintable characters by spaces, so that an error stays one line and contains
// no control sequences.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

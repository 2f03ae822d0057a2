package migrate

import (
	_ "embed" // the tables
	"maps"
	"slices"
	"strings"
	"sync"

	"torchx/runtime/humanize"
)

// entry is the counterpart of a Python name: its name in Starlark, and the type of the value or
// of the function's result.
type entry struct {
	starlark string
	typ      typ
}

//go:embed names.txt
var namesText string

// tables are the sections of names.txt, read at the first use.
var tables = sync.OnceValue(func() map[string]map[string]entry {
	out := map[string]map[string]entry{}
	section := ""
	for line := range strings.Lines(namesText) {
		line = strings.TrimSpace(line)
		t, names, ok := strings.Cut(line, ": ")
		switch {
		case line == "" || line[0] == '#':
		case !ok:
			section = strings.Trim(line, "[]")
			out[section] = map[string]entry{}
		default:
			for name := range strings.FieldsSeq(names) {
				python, starlark, ok := strings.Cut(name, "=")
				if !ok {
					starlark = strings.TrimPrefix(python, "torchx.")
				}
				out[section][python] = entry{starlark, typeOf(t)}
			}
		}
	}
	return out
})

func builtins() map[string]entry  { return tables()["builtins"] }
func functions() map[string]entry { return tables()["functions"] }
func constants() map[string]entry { return tables()["constants"] }
func fields() map[string]entry    { return tables()["fields"] }
func methods() map[string]entry   { return tables()["methods"] }

// mutators are the methods that change a list, dict or set.
const mutators = " append extend insert update pop setdefault clear remove add discard popitem sort reverse "

// isMutator reports whether n calls a method that changes its object.
func isMutator(n *node) bool {
	return is(n, "Call") && is(n.Func, "Attribute") &&
		strings.Contains(mutators, " "+n.Func.Attr+" ")
}

// method finds a method of a type. For an unknown type it finds methods that mean the same for
// all types.
func method(t typ, name string) (entry, bool) {
	if t.class == unknown {
		for _, c := range []class{aStr, aList, aDict, aSet} {
			if m, ok := methods()[string(c)+"."+name]; ok {
				if c != aStr {
					m.typ = typ{}
				}
				return m, true
			}
		}
		return entry{}, false
	}
	m, ok := methods()[string(t.class)+"."+name]
	switch string(t.class) + "." + name {
	case "dict.get", "dict.pop", "dict.setdefault":
		m.typ = t.valueType()
	case "dict.keys":
		m.typ = typ{class: aList, elem: t.key}
	case "dict.values":
		m.typ = typ{class: aList, elem: t.elem}
	case "dict.items":
		m.typ = listOf(item(t.elemType(), t.valueType()))
	case "list.pop":
		m.typ = t.elemType()
	}
	return m, ok
}

// starlarkTypes are the results of type() in Starlark by the names of Python's classes.
var starlarkTypes = map[string][]string{
	"str": {"string"}, "int": {"int", "bool"}, "float": {"float"}, "bool": {"bool"},
	"list": {"list"}, "dict": {"dict"}, "tuple": {"tuple"}, "set": {"set"},
}

// canonical maps names that TorchX or Python export several times to one name.
func canonical(full string) string {
	for _, alias := range [][2]string{
		{"torchx.specs.api.", "torchx.specs."},
		{"torchx.specs.builders.", "torchx.specs."},
		{"torchx.specs.overlays.overlays.", "torchx.specs.overlays."},
		{"torchx.specs.file_linter.", "torchx.specs."},
		{"posixpath.", "os.path."},
		{"typing_extensions.", "typing."},
		{"collections.abc.", "typing."},
		{"torchx.components.dist.Structured", "torchx.components.structured_arg.Structured"},
	} {
		if rest, ok := strings.CutPrefix(full, alias[0]); ok {
			return alias[1] + rest
		}
	}
	if full == "torchx.specs.api" {
		return "torchx.specs"
	}
	return full
}

//go:embed preludes.star
var preludesText string

// preludes are the functions of preludes.star by their names.
var preludes = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, text := range strings.Split(preludesText, "\ndef ")[1:] {
		name, _, _ := strings.Cut(text, "(")
		out[name] = "def " + strings.TrimSpace(text) + "\n"
	}
	return out
})

// imported ports a reference to an imported name.
func (p *porter) imported(n *node, full string) value {
	e, ok := constants()[full]
	if !ok {
		e, ok = functions()[full]
		e.typ = typ{}
	}
	if e.starlark == "torchx.IMAGE" {
		p.note(n.Line, "a default that differs: torchx.IMAGE is the image of this torchx, not ghcr.io/pytorch/torchx")
	}
	rest, isSpec := strings.CutPrefix(full, "torchx.specs.")
	switch {
	case isSpec && rest != "named_resources":
		return p.specsName(n, rest)
	case ok && strings.HasPrefix(e.starlark, "@"):
		file, names, _ := strings.Cut(e.starlark[1:], ".")
		name, field, _ := strings.Cut(names, ".")
		local := p.unbound(file + "_" + name)
		p.out.loads[file+"."+name] = local
		if field != "" {
			local += "." + field
		}
		return primary(local, e.typ)
	case ok && strings.HasPrefix(e.starlark, `"`):
		return primary(e.starlark, e.typ)
	case ok:
		return primary(p.predeclared(e.starlark), e.typ)
	case full == "torchx.specs":
		return primary(p.predeclared("specs"), typ{})
	}
	return p.refuseName(n, full)
}

// retryPolicy is specs.RetryPolicy, whose members are texts whose str() differs from their value.
const retryPolicy = "RetryPolicy"

// specsName ports torchx.specs.NAME.
func (p *porter) specsName(n *node, name string) value {
	member := strings.TrimSuffix(name, ".value")
	full := "specs." + member
	if p.known[full] == "" {
		among := slices.DeleteFunc(slices.Sorted(maps.Keys(p.known)), func(k string) bool { return !strings.HasPrefix(k, "specs.") })
		return p.fail(n, "%s has no counterpart in a component file.%s", full,
			humanize.Hint(full, among))
	}
	t := constants()["torchx."+full].typ
	switch {
	case member == retryPolicy:
		t = typ{class: aClass, spec: retryPolicy}
	case strings.HasPrefix(member, retryPolicy+"."):
		t = typ{class: aStr, loose: name == member, spec: retryPolicy}
	case strings.HasPrefix(member, "macros."):
		t = of(aStr)
	}
	return primary(p.predeclared(full), t)
}

package migrate

import (
	"maps"
	"slices"
	"strings"

	"torchx/runtime/humanize"
)

// imported ports a reference to an imported name.
func (p *porter) imported(n *node, full string) value {
	e, ok := constants()[full]
	if !ok {
		e, ok = functions()[full]
		e.typ = typ{}
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
		return p.fail(n, "%s has no counterpart in a component file.%s", full, humanize.Hint(full, among))
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

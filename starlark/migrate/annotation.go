package migrate

import (
	"slices"
	"strings"
)

// annotated is the type that an annotation says, as far as it matters here.
func (p *porter) annotated(n node) typ {
	if isNone(n) {
		return of(aNone)
	}
	switch x := n.(type) {
	case *pyName:
		switch c := class(x.ID); {
		case c.isPrimitive():
			return of(c)
		case c == aList || c == aDict:
			return anyOf(c)
		}
	case *pyBinOp:
		if x.Op == "BitOr" {
			return p.annotated(x.Left).join(p.annotated(x.Right))
		}
	case *pySubscript:
		return p.annotatedGeneric(x)
	}
	if spec, ok := strings.CutPrefix(p.full(n), "torchx.specs."); ok && p.known["specs."+spec] != "" {
		return typ{class: aSpec, spec: spec}
	}
	return typ{}
}

func (p *porter) annotatedGeneric(n *pySubscript) typ {
	var parts []typ
	for _, x := range typeArguments(n) {
		parts = append(parts, p.annotated(x))
	}
	switch kind := p.generic(n.Value); {
	case kind == "list" && len(parts) == 1:
		return listOf(parts[0])
	case kind == "dict" && len(parts) == 2:
		return typ{class: aDict, key: &parts[0], elem: &parts[1]}
	case kind == "optional" && len(parts) == 1:
		return parts[0].orNone()
	case kind == "union":
		t := of(aNone)
		for _, x := range parts {
			t = t.join(x)
		}
		return t
	}
	return typ{}
}

// generic names the generic type that n is: "list", "dict", "optional", "tuple", "union".
func (p *porter) generic(n node) string {
	name := strings.TrimPrefix(p.full(n), "typing.")
	if name == "" {
		name = nameOf(n)
	}
	return strings.ToLower(name)
}

func typeArguments(n *pySubscript) []node {
	if elts, ok := elements(n.Slice, "Tuple"); ok {
		return elts
	}
	return []node{n.Slice}
}

// notOnCommandLine is why TorchX refuses a type that no other reason is about.
const notOnCommandLine = "its type cannot be given on a command line"

// commandType reads the annotation of a component's argument by TorchX's rules. It
// returns the type as docstrings here write it, "" if it cannot be ported, and why TorchX
// itself refuses it, "" if it does not.
func (p *porter) commandType(n node) (text, refused string) {
	if n == nil {
		return "", "it has no type annotation"
	}
	switch x := n.(type) {
	case *pyName:
		if class(x.ID).isPrimitive() {
			return x.ID, ""
		}
		if slices.Contains([]string{"list", "dict", "tuple"}, p.generic(n)) {
			return "", "its type does not say what is in it"
		}
	case *pyBinOp:
		if x.Op == "BitOr" {
			return p.optionalType(x.Left, x.Right)
		}
	case *pySubscript:
		return p.genericType(x)
	}
	return "", notOnCommandLine
}

func (p *porter) optionalType(a, b node) (text, refused string) {
	if isNone(a) {
		a, b = b, a
	}
	if !isNone(b) {
		return "", "its type is a union of several"
	}
	text, refused = p.commandType(a)
	return optional(text), refused
}

// optional writes the type of an argument that may be None.
func optional(text string) string {
	if text == "" || strings.HasPrefix(text, "optional[") {
		return text
	}
	return "optional[" + text + "]"
}

func (p *porter) genericType(n *pySubscript) (text, refused string) {
	args := typeArguments(n)
	var names []string
	for _, a := range args {
		if name := nameOf(a); class(name).isPrimitive() {
			names = append(names, name)
		}
	}
	isSimple := len(names) == len(args)
	switch kind := p.generic(n.Value); {
	case kind == "optional" && len(args) == 1:
		return p.optionalType(args[0], &pyConstant{Type: "NoneType"})
	case kind == "union" && len(args) == 2:
		return p.optionalType(args[0], args[1])
	case kind == "list" && len(args) == 1 && isSimple, kind == "dict" && len(args) == 2 && isSimple:
		return kind + "[" + strings.Join(names, ", ") + "]", ""
	case kind == "list" || kind == "dict":
		return "", "only str, int, float and bool can be in a list or dict on a command line"
	case kind == "tuple":
		return "", ""
	}
	return "", notOnCommandLine
}

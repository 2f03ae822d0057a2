package migrate

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// node is a node of Python's syntax tree. A type pyX is the class X of Python's ast
// module, with the fields that a port needs; dump.py says what it changes.
type node interface{ at() *position }

// position is where a node stands: lines and columns from 1, or 0 if Python does not
// say. kids are all nodes directly below it, in the order of the source.
type position struct {
	kind           string // Python's name of the class
	line, col, end int
	kids           []node
}

func (p *position) at() *position { return p }

type (
	pyFunctionDef struct {
		position
		Name                string
		Args                []*pyArg
		Body, DecoratorList []node
		Returns             node
	}
	pyArg struct {
		position
		Arg                 string
		Annotation, Default node   // Default is nil if an argument is required
		Star                string // "", "*" or "**"
		Keyword             bool
	}
	pyClassDef struct {
		position
		Name        string
		Bases, Body []node
	}
	// pyAssign is an AnnAssign, too, which has an annotation, and may have no value.
	pyAssign struct {
		position
		Targets           []node
		Annotation, Value node
	}
	pyAugAssign struct {
		position
		Target, Value node
		Op            string
	}
	pyFor struct {
		position
		Target, Iter node
		Body, Orelse []node
	}
	pyIf struct {
		position
		Test         node
		Body, Orelse []node
	}
	pyImport struct {
		position
		Names []*pyAlias
	}
	pyImportFrom struct {
		position
		Module string
		Names  []*pyAlias
		Level  int
	}
	pyAlias struct {
		position
		Name, Asname string
	}
	pyAssert struct {
		position
		Test, Msg node
	}
	pyRaise struct {
		position
		Exc node
	}
	pyDelete struct {
		position
		Targets []node
	}
	pyExpr struct {
		position
		Value node
	}
	pyReturn  pyExpr
	pyStarred pyExpr

	pyConstant struct {
		position
		Type, Text string
		Bad        bool // the text has half of a surrogate pair
	}
	pyName struct {
		position
		ID string
	}
	pyAttribute struct {
		position
		Value node
		Attr  string
	}
	pySubscript struct {
		position
		Value, Slice node
	}
	pySlice struct {
		position
		Lower, Upper, Step node
	}
	pyCall struct {
		position
		Func     node
		Args     []node
		Keywords []*pyKeyword
	}
	pyKeyword struct {
		position
		Arg   string // "" for **
		Value node
	}
	// pyDisplay is a List, Tuple or Set.
	pyDisplay struct {
		position
		Elts []node
	}
	pyDict struct {
		position
		Keys, Values []node // a key is nil for **
	}
	// pyComp is a ListComp, SetComp, GeneratorExp or DictComp.
	pyComp struct {
		position
		Elt, Key, Value node
		Generators      []*pyComprehension
	}
	pyComprehension struct {
		position
		Target, Iter node
		Ifs          []node
		IsAsync      int
	}
	pyBinOp struct {
		position
		Left, Right node
		Op          string
	}
	pyBoolOp struct {
		position
		Op     string
		Values []node
	}
	pyUnaryOp struct {
		position
		Op      string
		Operand node
	}
	pyCompare struct {
		position
		Left        node
		Ops         []string
		Comparators []node
	}
	pyIfExp struct {
		position
		Test, Body, Orelse node
	}
	pyLambda struct {
		position
		Args  []*pyArg
		Plain bool // all are parameters without star or default
		Body  node
	}
	pyJoinedStr struct {
		position
		Values []node
	}
	pyFormattedValue struct {
		position
		Value      node
		Conversion int
		FormatSpec node
	}
	// pyOther is any other class. Name and Target are what it binds.
	pyOther struct {
		position
		Name                 string
		Target, OptionalVars node
	}
)

// classes are the types of nodes by the names of Python's classes.
var classes = sync.OnceValue(func() map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for _, n := range []node{
		&pyFunctionDef{}, &pyArg{}, &pyClassDef{}, &pyAssign{}, &pyAugAssign{}, &pyFor{}, &pyIf{}, &pyImport{}, &pyImportFrom{}, &pyAlias{},
		&pyAssert{}, &pyRaise{}, &pyDelete{}, &pyExpr{}, &pyReturn{}, &pyStarred{}, &pyConstant{}, &pyName{}, &pyAttribute{}, &pySubscript{},
		&pySlice{}, &pyCall{}, &pyKeyword{}, &pyDict{}, &pyComprehension{}, &pyBinOp{}, &pyBoolOp{}, &pyUnaryOp{}, &pyCompare{}, &pyIfExp{},
		&pyLambda{}, &pyJoinedStr{}, &pyFormattedValue{},
	} {
		t := reflect.TypeOf(n).Elem()
		out[strings.ToLower(t.Name()[2:])] = t
	}
	for kind, n := range map[string]node{
		"annassign": &pyAssign{}, "list": &pyDisplay{}, "tuple": &pyDisplay{}, "set": &pyDisplay{},
		"listcomp": &pyComp{}, "setcomp": &pyComp{}, "generatorexp": &pyComp{}, "dictcomp": &pyComp{},
	} {
		out[kind] = reflect.TypeOf(n).Elem()
	}
	return out
})

// newNode builds the node that dump.py printed as m.
func newNode(m map[string]any) (node, error) {
	kind, _ := m["_"].(string)
	if kind == "" {
		return nil, fmt.Errorf("a node has no class: %.80v", m)
	}
	t, ok := classes()[strings.ToLower(kind)]
	if !ok {
		t = reflect.TypeFor[pyOther]()
	}
	v := reflect.New(t)
	n := v.Interface().(node)
	number := func(key string) int {
		f, _ := m[key].(float64)
		return int(f)
	}
	pos := n.at()
	pos.kind = kind
	pos.line, pos.col, pos.end = number("line"), number("col"), number("end")
	for key, raw := range m {
		field := reflect.Value{}
		for i := 1; i < t.NumField(); i++ {
			if strings.EqualFold(t.Field(i).Name, key) {
				field = v.Elem().Field(i)
			}
		}
		if err := pos.fill(field, raw); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(pos.kids, func(a, b node) int {
		a, b = firstPlaced(a), firstPlaced(b)
		return cmp.Or(cmp.Compare(a.at().line, b.at().line), cmp.Compare(a.at().col, b.at().col))
	})
	return n, nil
}

// fill sets a field, if there is one, to a decoded value; nodes in it become kids.
func (p *position) fill(field reflect.Value, raw any) error {
	switch raw := raw.(type) {
	case map[string]any:
		if field.IsValid() && field.Kind() == reflect.String { // the name of a TypeAlias
			field = reflect.Value{}
		}
		n, err := newNode(raw)
		if err != nil {
			return err
		}
		p.kids = append(p.kids, n)
		return assign(field, reflect.ValueOf(n))
	case []any:
		for _, item := range raw {
			elem := reflect.Value{}
			if field.IsValid() && field.Kind() == reflect.Slice {
				field.Grow(1)
				field.SetLen(field.Len() + 1)
				elem = field.Index(field.Len() - 1)
			}
			if err := p.fill(elem, item); err != nil {
				return err
			}
		}
		return nil
	case float64:
		return assign(field, reflect.ValueOf(int(raw)))
	case nil:
		return nil
	}
	return assign(field, reflect.ValueOf(raw))
}

func assign(field, v reflect.Value) error {
	if !field.IsValid() {
		return nil
	}
	if !v.Type().AssignableTo(field.Type()) {
		return fmt.Errorf("a %v is where a %v should be", v.Type(), field.Type())
	}
	field.Set(v)
	return nil
}

// firstPlaced is n, or if Python does not say where n stands the first node below that has a place.
func firstPlaced(n node) node {
	for _, c := range n.at().kids {
		if n.at().line > 0 {
			break
		}
		if first := firstPlaced(c); first.at().line > 0 {
			return first
		}
	}
	return n
}

// walk calls f for n and all below it until f says not to go down.
func walk(n node, f func(node) bool) {
	if n == nil || !f(n) {
		return
	}
	for _, c := range n.at().kids {
		walk(c, f)
	}
}

// before reports whether a begins before b.
func before(a, b node) bool {
	return a.at().line < b.at().line || a.at().line == b.at().line && a.at().col < b.at().col
}

// nameOf is the name of a variable, "" if n is something else.
func nameOf(n node) string {
	if x, ok := n.(*pyName); ok {
		return x.ID
	}
	return ""
}

// constantOf returns the text of a constant of a type such as "str".
func constantOf(n node, kind string) (string, bool) {
	c, ok := n.(*pyConstant)
	if !ok || c.Type != kind {
		return "", false
	}
	return c.Text, true
}

func isNone(n node) bool {
	_, ok := constantOf(n, "NoneType")
	return ok
}

func isStarred(n node) bool {
	_, ok := n.(*pyStarred)
	return ok
}

// elements are the items of a list, tuple or set that is written out.
func elements(n node, kinds ...string) ([]node, bool) {
	d, ok := n.(*pyDisplay)
	if !ok || !slices.Contains(kinds, d.kind) {
		return nil, false
	}
	return d.Elts, true
}

// binds lists the names that a node itself binds, imports aside.
func binds(n node) []string {
	switch n := n.(type) {
	case *pyFunctionDef:
		return []string{n.Name}
	case *pyClassDef:
		return []string{n.Name}
	case *pyArg:
		return []string{n.Arg}
	case *pyAssign:
		return targets(n.Targets...)
	case *pyAugAssign:
		return targets(n.Target)
	case *pyFor:
		return targets(n.Target)
	case *pyComprehension:
		return targets(n.Target)
	case *pyOther:
		switch n.kind {
		case "AsyncFunctionDef", "ExceptHandler":
			return []string{n.Name}
		case "NamedExpr", "withitem":
			return targets(n.Target, n.OptionalVars)
		}
	}
	return nil
}

// targets lists the names within the left sides of assignments.
func targets(list ...node) []string {
	var out []string
	for _, n := range list {
		switch n := n.(type) {
		case *pyName:
			out = append(out, n.ID)
		case *pyStarred:
			out = append(out, targets(n.Value)...)
		case *pyDisplay:
			if n.kind != "Set" {
				out = append(out, targets(n.Elts...)...)
			}
		}
	}
	return out
}

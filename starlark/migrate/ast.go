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

// position holds what all nodes have in common.
type position struct {
	Kind           string   // Python's name of the class
	Line, Col, End int      // from 1, or 0 if Python does not say where the node stands
	Order          int      // among the nodes around it
	Binds          []string // the names that it binds itself, imports aside
	kids           []node   // all nodes directly below, in the order of the source
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
	pyAssign struct {
		position          `kinds:"Assign AnnAssign"`
		Targets           []node
		Annotation, Value node // of an AnnAssign, which may have no value
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
		Form  [][]string // the parts of the text whose .format this is
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
	pyDisplay struct {
		position `kinds:"List Tuple Set"`
		Elts     []node
	}
	pyDict struct {
		position
		Keys, Values []node // a key is nil for **
	}
	pyComp struct {
		position        `kinds:"ListComp SetComp GeneratorExp DictComp"`
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
		Power       string // the digits of a power of constants
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
	// pyOther is any other class.
	pyOther struct {
		position
		Target node
	}
)

// nodeClass is a type of nodes, with the indices of its fields by their names in lower case.
type nodeClass struct {
	typ    reflect.Type
	fields map[string][]int
}

// classes returns the types of nodes by the names of Python's classes in lower case.
var classes = sync.OnceValue(func() map[string]nodeClass {
	out := map[string]nodeClass{}
	for _, n := range []node{
		&pyFunctionDef{}, &pyArg{}, &pyClassDef{}, &pyAssign{}, &pyAugAssign{}, &pyFor{}, &pyIf{}, &pyAssert{}, &pyRaise{}, &pyDelete{},
		&pyExpr{}, &pyReturn{}, &pyStarred{}, &pyConstant{}, &pyName{}, &pyAttribute{}, &pySubscript{}, &pySlice{}, &pyCall{}, &pyKeyword{},
		&pyDisplay{}, &pyDict{}, &pyComp{}, &pyComprehension{}, &pyBinOp{}, &pyBoolOp{}, &pyUnaryOp{}, &pyCompare{}, &pyIfExp{}, &pyLambda{},
		&pyJoinedStr{}, &pyFormattedValue{}, &pyOther{},
	} {
		c := nodeClass{reflect.TypeOf(n).Elem(), map[string][]int{}}
		for _, f := range reflect.VisibleFields(c.typ) {
			c.fields[strings.ToLower(f.Name)] = f.Index
		}
		kinds := cmp.Or(c.typ.Field(0).Tag.Get("kinds"), c.typ.Name()[2:])
		for _, kind := range strings.Fields(kinds) {
			out[strings.ToLower(kind)] = c
		}
	}
	return out
})

// newNode builds the node that dump.py printed as m.
func newNode(m map[string]any) (node, error) {
	kind, _ := m["kind"].(string)
	if kind == "" {
		return nil, fmt.Errorf("a node has no class: %.80v", m)
	}
	c, ok := classes()[strings.ToLower(kind)]
	if !ok {
		c = classes()["other"]
	}
	v := reflect.New(c.typ)
	n := v.Interface().(node)
	for key, raw := range m {
		field := reflect.Value{}
		if index, ok := c.fields[key]; ok {
			field = v.Elem().FieldByIndex(index)
		}
		if err := n.at().fill(field, raw); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(n.at().kids, func(a, b node) int { return cmp.Compare(a.at().Order, b.at().Order) })
	return n, nil
}

// fill sets a field to a decoded value and adds the nodes in it to the kids. Without a valid
// field it only adds the nodes.
func (p *position) fill(field reflect.Value, raw any) error {
	v := reflect.ValueOf(raw)
	switch raw := raw.(type) {
	case map[string]any:
		n, err := newNode(raw)
		if err != nil {
			return err
		}
		p.kids = append(p.kids, n)
		v = reflect.ValueOf(n)
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
		v = reflect.ValueOf(int(raw))
	}
	if !field.IsValid() || !v.IsValid() {
		return nil
	}
	if !v.Type().AssignableTo(field.Type()) {
		return fmt.Errorf("a %v is where a %v should be", v.Type(), field.Type())
	}
	field.Set(v)
	return nil
}

// walk calls f for n and all nodes below it. It skips what is below a node where f is false.
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
	return a.at().Line < b.at().Line || a.at().Line == b.at().Line && a.at().Col < b.at().Col
}

// nameOf returns the name of a variable, "" if n is another expression.
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

// elements returns the items of a display whose kind is "List", "Tuple" or "Set".
func elements(n node, kinds ...string) ([]node, bool) {
	d, ok := n.(*pyDisplay)
	if !ok || !slices.Contains(kinds, d.Kind) {
		return nil, false
	}
	return d.Elts, true
}

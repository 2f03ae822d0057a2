package migrate

import "strings"

// class is what is known about the type of a value: the name of one of Python's
// classes, or one of the constants.
type class string

const (
	unknown class = ""
	aStr    class = "str"
	anInt   class = "int"
	aFloat  class = "float"
	aBool   class = "bool"
	aNone   class = "None"
	aList   class = "list"
	aDict   class = "dict"
	aTuple  class = "tuple"
	aSet    class = "set"

	aSpec   class = "specs value" // an AppDef, Role, Resource, mount: values that never change here
	anEnum  class = "enum"        // a class of enumerated values
	aMember class = "member"      // one of its values
)

// isBuiltin reports whether c is one of Python's own classes.
func (c class) isBuiltin() bool { return c != unknown && c != aSpec && c != anEnum && c != aMember }

// isPrimitive reports whether a command line can give a value of class c.
func (c class) isPrimitive() bool { return c == aStr || c == anInt || c == aFloat || c == aBool }

// isMutable reports whether values of class c change in place.
func (c class) isMutable() bool { return c == aList || c == aDict || c == aSet }

// typ is the type of a value: its class, and those of its parts if they are known.
type typ struct {
	class     class
	key, elem *typ // of dicts; of lists, tuples and sets the elements only
	// spec is which of the specs types an aSpec is: "Role"; of a member or an enum
	// the name of its class.
	spec string
	// null: it may be None as well.
	null bool
}

// typeOf reads a type such as "dict[str, ?]": ? is an unknown one, and a name that is
// not Python's is one of specs. A list without [ ] is known to have no items yet.
func typeOf(s string) typ {
	name, inner, generic := strings.Cut(strings.TrimSuffix(s, "]"), "[")
	t := typ{class: class(name)}
	switch {
	case name == "?":
		return typ{}
	case strings.ToLower(name) != name:
		return typ{class: aSpec, spec: name}
	}
	if !generic {
		return t
	}
	key, elem, two := strings.Cut(inner, ", ")
	if two {
		k := typeOf(key)
		t.key = &k
	} else {
		elem = key
	}
	e := typeOf(elem)
	t.elem = &e
	return t
}

// orNone is the type of what may be None as well.
func (t typ) orNone() typ {
	t.null = true
	return t
}

func of(c class) typ { return typ{class: c} }

// anyOf is a list, dict, tuple or set of which the items are not known. Without elem,
// as of() gives it, it has none yet.
func anyOf(c class) typ { return typ{class: c, key: &typ{}, elem: &typ{}} }

func listOf(elem typ) typ { return typ{class: aList, elem: &elem} }

// numbered is the type of enumerate(x).
func numbered(t typ) typ {
	elem := t.elemType()
	return listOf(typ{class: aTuple, key: &typ{class: anInt}, elem: &elem, spec: "item"})
}

// elemType is the type of what iterating gives.
func (t typ) elemType() typ {
	switch {
	case t.class == aStr:
		return of(aStr)
	case t.class == aDict && t.key != nil:
		return *t.key
	case t.class != aDict && t.elem != nil:
		return *t.elem
	}
	return typ{}
}

// valueType is the type of a dict's values.
func (t typ) valueType() typ {
	if t.elem != nil {
		return *t.elem
	}
	return typ{}
}

// join is the type of what is of one type or the other.
func (t typ) join(other typ) typ {
	switch {
	case t.class == aNone:
		return other.orNone()
	case other.class == aNone:
		return t.orNone()
	case t.class != other.class || t.spec != other.spec:
		return typ{}
	}
	return typ{class: t.class, spec: t.spec, key: joined(t.key, other.key), elem: joined(t.elem, other.elem), null: t.null || other.null}
}

func joined(a, b *typ) *typ {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	t := a.join(*b)
	return &t
}

// arithmetic is the type of a op b.
func arithmetic(op string, a, b typ) typ {
	isNumber := func(t typ) bool { return t.class == anInt || t.class == aFloat }
	switch {
	case isNumber(a) && isNumber(b):
		if op == "/" || a.class == aFloat || b.class == aFloat {
			return of(aFloat)
		}
		return of(anInt)
	case (op == "+" || op == "|") && a.class == b.class:
		return a.join(b)
	case (op == "-" || op == "&" || op == "^") && a.class == aSet && b.class == aSet:
		return a
	case op == "*" && b.class == anInt:
		return a
	case op == "*" && a.class == anInt:
		return b
	}
	return typ{}
}

// retryPolicy is the spec of specs.RetryPolicy, and of its members, which are texts.
const retryPolicy = "RetryPolicy"

// hasOwnText reports whether what Python's str() makes of a value is not known here: of
// a member of an Enum it differs between versions, and specs.RetryPolicy is one.
func (t typ) hasOwnText() bool {
	return t.class == aMember || t.class == anEnum || t.class == aSpec || t.spec == retryPolicy
}

// isPlain reports whether Starlark's str() writes a value of this type as Python's does.
func (t typ) isPlain() bool {
	return t.class == aStr || t.class == anInt || t.class == aBool || t.class == aNone
}

// isText reports whether a value is a str and never None.
func (t typ) isText() bool { return t.class == aStr && !t.null }

// contradicts reports whether a value of type t cannot be of an annotated type. Python
// does not look at annotations, but how a value is written as text depends on its type,
// so ports rely on them. An int does for a float, in Python too.
func (t typ) contradicts(annotated typ) bool {
	return t.class.isBuiltin() && annotated.class.isBuiltin() &&
		t.class != annotated.class && t.class != aNone && (t.class != anInt || annotated.class != aFloat)
}

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

	aSpec    class = "specs value" // an AppDef, Role, Resource, mount: values that never change here
	aPath    class = "Path"        // of pathlib: a normalized str here
	aWrapped class = "wrapped str" // of a class derived from str: a struct with the text here
	aClass   class = "class"       // a class of the file
	aMember  class = "member"      // of an Enum of the file
	anObject class = "object"      // of another class of the file: a struct here
	aLogger  class = "logger"
)

// isBuiltin reports whether c is one of Python's own classes.
func (c class) isBuiltin() bool { return c.isPrimitive() || c.isMutable() || c == aTuple || c == aNone }

// isPrimitive reports whether a command line can give a value of class c.
func (c class) isPrimitive() bool { return c == aStr || c == anInt || c == aFloat || c == aBool }

// isMutable reports whether values of class c change in place.
func (c class) isMutable() bool { return c == aList || c == aDict || c == aSet }

// typ is the type of a value: its class, and those of its parts if they are known.
type typ struct {
	class     class
	key, elem *typ // of dicts; of lists, tuples and sets the elements only
	// spec is which of the specs types an aSpec is ("Role"); the name of the class of the file;
	// the field that has the text of an aWrapped.
	spec string
	null bool // it may be None as well
	// loose: only an annotation says so, or str() of it differs between versions of Python.
	loose bool
}

// typeOf reads a type such as "dict[str, ?]": ? is an unknown one, and a name that is
// not Python's is one of specs. A list without [ ] is known to have no items yet.
func typeOf(s string) typ {
	name, inner, generic := strings.Cut(strings.TrimSuffix(s, "]"), "[")
	t := typ{class: class(name)}
	switch {
	case name == "?":
		return typ{}
	case strings.ToLower(name) != name && t.class != aPath:
		return specOf(name)
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

func of(c class) typ               { return typ{class: c} }
func specOf(name string) typ       { return typ{class: aSpec, spec: name} }
func listOf(elem typ) typ          { return typ{class: aList, elem: &elem} }
func dictOf(key, elem typ) typ     { return typ{class: aDict, key: &key, elem: &elem} }
func (t typ) isSpec(s string) bool { return t.class == aSpec && t.spec == s }

// orNone is the type of what may be None as well.
func (t typ) orNone() typ {
	t.null = true
	return t
}

// opened is t with items that are not known. Without elem, as of() gives it, a list has none yet.
func (t typ) opened() typ {
	t.key, t.elem = &typ{}, &typ{}
	return t
}

// item is the type of the tuples that enumerate and dict.items give.
func item(key, elem typ) typ { return typ{class: aTuple, key: &key, elem: &elem, spec: "item"} }

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
	t.key, t.elem = joined(t.key, other.key), joined(t.elem, other.elem)
	t.null, t.loose = t.null || other.null, t.loose || other.loose
	return t
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

func (t typ) isNumber() bool { return t.class == anInt || t.class == aFloat }

// arithmetic is the type of a op b.
func arithmetic(op string, a, b typ) typ {
	a.null, b.null = false, false
	switch {
	case a.isNumber() && b.isNumber():
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

// isPlain reports whether Starlark's str() writes a value of this type as Python's does.
func (t typ) isPlain() bool {
	return !t.loose && (t.class == aStr || t.class == anInt || t.class == aBool || t.class == aNone)
}

// isText reports whether a value is a str and never None.
func (t typ) isText() bool { return (t.class == aStr || t.class == aPath) && !t.null && !t.loose }

// contradicts reports whether a value of type t cannot be of an annotated type. Python
// does not look at annotations, but how a value is written as text depends on its type,
// so ports rely on them. An int does for a float, in Python too.
func (t typ) contradicts(annotated typ) bool {
	return t.class.isBuiltin() && annotated.class.isBuiltin() &&
		t.class != annotated.class && t.class != aNone && (t.class != anInt || annotated.class != aFloat)
}

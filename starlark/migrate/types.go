package migrate

import "strings"

// class is the class of a value: one of the constants, unknown if it is not known.
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

	aSpec    class = "specs value" // an AppDef, Role, Resource, mount: values that never change in Starlark
	aPath    class = "Path"        // of pathlib: a normalized str in Starlark
	aWrapped class = "wrapped str" // of a class derived from str: a struct with the text in Starlark
	aClass   class = "class"       // a class of the file
	aMember  class = "member"      // of an Enum of the file
	anObject class = "object"      // of another class of the file: a struct in Starlark
	aLogger  class = "logger"
	aProblem class = "problem" // of an expression that could not be ported: its uses are not reported
	aMatch   class = "match"   // of a regular expression: a dict of its groups, or None
	aParents class = "parents" // of a Path
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
	key, elem *typ // of dicts; lists, tuples and sets have only elem
	// spec is the specs type of an aSpec ("Role"), the name of a class of the file, or the field
	// with the text of an aWrapped.
	spec string
	null bool // it may be None as well
	// loose: the type comes only from an annotation, or str() differs between Python versions.
	loose bool
}

// typeOf reads a type such as "dict[str, ?]": ? is unknown, and capitalized names are types of
// specs. A list without [ ] is known to be empty.
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

// orNone returns t for a value that may also be None.
func (t typ) orNone() typ {
	t.null = true
	return t
}

// opened returns t with items of unknown type. Without elem, as from of(), a list is empty.
func (t typ) opened() typ {
	t.key, t.elem = &typ{}, &typ{}
	return t
}

// item returns the type of the tuples that enumerate and dict.items return.
func item(key, elem typ) typ { return typ{class: aTuple, key: &key, elem: &elem, spec: "item"} }

// elemType returns the type of the values that iteration yields.
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

// valueType returns the type of a dict's values.
func (t typ) valueType() typ {
	if t.elem != nil {
		return *t.elem
	}
	return typ{}
}

// join returns the type of a value that has one type or the other.
func (t typ) join(other typ) typ {
	switch {
	case t.class == aNone:
		return other.orNone()
	case other.class == aNone:
		return t.orNone()
	case t.class == aProblem || other.class == aProblem:
		return of(aProblem)
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

// arithmetic returns the type of a op b.
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

// contradicts reports whether a value of type t cannot have an annotated type. Python ignores
// annotations, but ports rely on them, since the text of a value depends on its type. As in
// Python an int is valid for a float.
func (t typ) contradicts(annotated typ) bool {
	return t.class.isBuiltin() && annotated.class.isBuiltin() &&
		t.class != annotated.class && t.class != aNone &&
		(t.class != anInt || annotated.class != aFloat)
}

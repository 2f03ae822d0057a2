package migrate

// class is what is known about the type of a value.
type class int

const (
	unknown class = iota
	aStr
	anInt
	aFloat
	aBool
	aNone
	aList
	aDict
	aTuple
	aSet
	aSpec   // an AppDef, Role, Resource, mount: values that never change here
	anEnum  // a class of enumerated values
	aMember // one of its values
)

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

// ownText reports whether what Python's str() makes of a value is not known here: of a
// member of an Enum it differs between versions, and specs.RetryPolicy is one.
func (t typ) ownText() bool {
	return t.class == aMember || t.class == anEnum || t.class == aSpec || t.spec == retryPolicy
}

// retryPolicy is the spec of specs.RetryPolicy, and of its members, which are texts.
const retryPolicy = "RetryPolicy"

// plain reports whether Starlark's str() writes a value of this type as Python's does.
func (t typ) plain() bool {
	switch t.class {
	case aStr, anInt, aBool, aNone:
		return true
	}
	return false
}

// starlark is what type() says in Starlark, by the name of Python's class.
var starlarkTypes = map[string][]string{
	"str": {"string"}, "int": {"int", "bool"}, "float": {"float"}, "bool": {"bool"},
	"list": {"list"}, "dict": {"dict"}, "tuple": {"tuple"}, "set": {"set"},
}

// commandType is a type that can be given on a command line, as TorchX allows it.
type commandType struct {
	text string // as docstrings here write it; "" if it cannot be ported
	typ  typ
	// refused says why TorchX itself refuses it, "" if it does not.
	refused string
}

var primitives = map[string]class{"str": aStr, "int": anInt, "float": aFloat, "bool": aBool}

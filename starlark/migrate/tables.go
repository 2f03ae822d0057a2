package migrate

// plainFunctions do the same in Python and Starlark for the arguments that
// components give them.
var plainFunctions = map[string]bool{
	"len": true, "range": true, "enumerate": true, "zip": true, "sorted": true, "reversed": true, "min": true, "max": true,
	"any": true, "all": true, "list": true, "dict": true, "tuple": true, "set": true, "bool": true, "int": true, "float": true,
	"abs": true, "print": true, "hasattr": true, "getattr": true, "chr": true, "ord": true,
}

// results are the types of what they return.
var results = map[string]typ{
	"len": of(anInt), "int": of(anInt), "ord": of(anInt), "float": of(aFloat), "bool": of(aBool), "any": of(aBool), "all": of(aBool),
	"hasattr": of(aBool), "chr": of(aStr), "range": listOf(of(anInt)), "dict": of(aDict), "set": of(aSet), "list": of(aList),
	"tuple": of(aTuple), "sorted": anyOf(aList), "reversed": anyOf(aList), "enumerate": anyOf(aList), "zip": anyOf(aList),
	"shlex.quote": of(aStr), "shlex.join": of(aStr), "shlex.split": listOf(of(aStr)), "path.join": of(aStr), "path.basename": of(aStr),
	"path.dirname": of(aStr), "path.normpath": of(aStr), "path.isabs": of(aBool), "path.splitext": {class: aTuple, elem: &typ{class: aStr}},
	"math.ceil": of(anInt), "math.floor": of(anInt), "math.sqrt": of(aFloat), "math.log": of(aFloat), "math.exp": of(aFloat), "math.fabs": of(aFloat),
	"specs.resource": {class: aSpec, spec: "Resource"}, "specs.get_named_resources": {class: aSpec, spec: "Resource"},
	"specs.Resource.copy": {class: aSpec, spec: "Resource"}, "specs.parse_mounts": anyOf(aList),
	"specs.overlays.PUT": of(aStr), "specs.overlays.JOIN": of(aStr), "specs.overlays.DEL": of(aStr),
}

// methods are those that Starlark has, by type; the value is the type of the result.
var methods = map[class]map[string]typ{
	aStr: {
		"capitalize": of(aStr), "count": of(anInt), "endswith": of(aBool), "find": of(anInt), "index": of(anInt), "isalnum": of(aBool),
		"isalpha": of(aBool), "isdigit": of(aBool), "islower": of(aBool), "isspace": of(aBool), "istitle": of(aBool), "isupper": of(aBool),
		"lower": of(aStr), "lstrip": of(aStr), "partition": {class: aTuple, elem: &typ{class: aStr}}, "removeprefix": of(aStr),
		"removesuffix": of(aStr), "replace": of(aStr), "rfind": of(anInt), "rindex": of(anInt), "rpartition": {class: aTuple, elem: &typ{class: aStr}},
		"rsplit": listOf(of(aStr)), "rstrip": of(aStr), "split": listOf(of(aStr)), "startswith": of(aBool),
		"strip": of(aStr), "title": of(aStr), "upper": of(aStr), "join": of(aStr),
	},
	aList: {"append": {}, "clear": {}, "extend": {}, "index": of(anInt), "insert": {}, "pop": {}, "remove": {}},
	aDict: {"clear": {}, "get": {}, "items": {}, "keys": {}, "pop": {}, "popitem": {}, "setdefault": {}, "update": {}, "values": {}},
	aSet: {
		"add": {}, "clear": {}, "difference": anyOf(aSet), "discard": {}, "intersection": anyOf(aSet), "issubset": of(aBool), "issuperset": of(aBool),
		"pop": {}, "remove": {}, "symmetric_difference": anyOf(aSet), "union": anyOf(aSet),
	},
	aTuple: {},
}

// adviceOn says what to do instead of functions of Python's own.
var adviceOn = map[string]string{
	"round": ": Python rounds halves to even; write int(x + 0.5) if that will do", "type": ": write isinstance",
	"open": ": a component reads no files", "input": ": a component asks nothing", "super": ": there are no classes",
	"str": " with these arguments", "repr": " with these arguments", "sum": " without values", "format": " without a format",
	"pow": ": write the product", "iter": "", "next": ": write x[0]", "divmod": ": write // and %", "eval": "", "exec": "",
	"bytes": "", "callable": "", "classmethod": "", "compile": "", "complex": "", "dir": "", "frozenset": ": write set", "globals": "", "hash": "",
	"help": "", "hex": ": write an f-string such as f\"{x:#x}\"", "id": "", "issubclass": "", "locals": "", "object": "", "oct": "", "bin": "",
	"property": "", "setattr": "", "slice": "", "staticmethod": "", "vars": "", "delattr": "", "ascii": "", "bytearray": "", "memoryview": "",
}

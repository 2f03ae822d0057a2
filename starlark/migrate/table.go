package migrate

import (
	"strings"
	"sync"
)

// entry is what a port makes of a name: the name in Starlark, and the type of the value
// or of what the function returns.
type entry struct {
	starlark string
	typ      typ
}

// table reads names, which are grouped by the type of their value or result, at the first
// use. A name is PYTHON or PYTHON=STARLARK.
func table(byType map[string]string) func() map[string]entry {
	return sync.OnceValue(func() map[string]entry {
		out := map[string]entry{}
		for t, names := range byType {
			for _, name := range strings.Fields(names) {
				python, starlark, ok := strings.Cut(name, "=")
				if !ok {
					starlark = python
				}
				out[python] = entry{starlark, typeOf(t)}
			}
		}
		return out
	})
}

var (
	// builtins do the same in Python and Starlark for the arguments that components
	// give them.
	builtins = table(map[string]string{
		"int": "len int ord", "float": "float", "bool": "bool any all hasattr", "str": "chr", "dict": "dict", "set": "set", "list": "list",
		"tuple": "tuple", "list[int]": "range", "list[?]": "sorted reversed enumerate zip", "?": "min max abs print getattr",
	})

	// functions are those of modules.
	functions = table(map[string]string{
		"str": "shlex.quote shlex.join os.path.join=path.join os.path.basename=path.basename os.path.dirname=path.dirname " +
			"os.path.normpath=path.normpath torchx.specs.overlays.PUT=specs.overlays.PUT torchx.specs.overlays.JOIN=specs.overlays.JOIN " +
			"torchx.specs.overlays.DEL=specs.overlays.DEL",
		"bool": "os.path.isabs=path.isabs", "tuple[str]": "os.path.splitext=path.splitext", "list[str]": "shlex.split",
		"int": "math.ceil math.floor", "float": "math.sqrt math.log math.exp math.fabs",
		"?": "json.loads=json.decode dataclasses.replace=specs.replace",
		"Resource": "torchx.specs.resource=specs.resource torchx.specs.get_named_resources=specs.get_named_resources " +
			"torchx.specs.Resource.copy=specs.Resource.copy torchx.specs.Resource=specs.Resource",
		"list[?]": "torchx.specs.parse_mounts=specs.parse_mounts",
		"AppDef": "torchx.specs.AppDef=specs.AppDef torchx.components.dist.ddp torchx.components.dist.spmd torchx.components.utils.echo " +
			"torchx.components.utils.touch torchx.components.utils.sh torchx.components.utils.python torchx.components.utils.binary " +
			"torchx.components.utils.copy torchx.components.utils.booth",
		"Role": "torchx.specs.Role=specs.Role", "Workspace": "torchx.specs.Workspace=specs.Workspace",
		"BindMount": "torchx.specs.BindMount=specs.BindMount", "VolumeMount": "torchx.specs.VolumeMount=specs.VolumeMount",
		"DeviceMount": "torchx.specs.DeviceMount=specs.DeviceMount",
	})

	// constants are values of modules.
	constants = table(map[string]string{
		"str": "torchx.version.TORCHX_IMAGE=torchx.IMAGE torchx.version.__version__=torchx.version torchx.__version__=torchx.version " +
			"torchx.specs.MISSING=specs.MISSING torchx.specs.NONE=specs.NONE torchx.specs.UNKNOWN=specs.UNKNOWN",
		"float": "math.pi math.e", "Resource": "torchx.specs.NULL_RESOURCE=specs.NULL_RESOURCE",
		"?": "torchx.specs.named_resources=specs.named_resources",
	})

	// fields are those of specs values.
	fields = table(map[string]string{
		"str": "Role.name Role.image Role.entrypoint AppDef.name", "int": "Role.num_replicas Role.max_retries Resource.gpu Resource.memMB",
		"dict[str, str]": "Role.env", "list[str]": "Role.args", "list[Role]": "AppDef.roles", "Resource": "Role.resource", "list[?]": "Role.mounts",
		"dict[?, ?]": "Role.metadata AppDef.metadata Role.port_map Resource.capabilities Resource.devices Resource.tags",
	})

	// methods are those that Starlark has, as TYPE.NAME.
	methods = table(map[string]string{
		"str": "str.capitalize str.lower str.lstrip str.removeprefix str.removesuffix str.replace str.rstrip str.strip str.title str.upper str.join",
		"int": "str.count str.find str.index str.rfind str.rindex list.index",
		"bool": "str.endswith str.isalnum str.isalpha str.isdigit str.islower str.isspace str.istitle str.isupper str.startswith " +
			"set.issubset set.issuperset",
		"tuple[str]": "str.partition str.rpartition", "list[str]": "str.rsplit str.split",
		"set[?]": "set.difference set.intersection set.symmetric_difference set.union",
		"?": "list.append list.clear list.extend list.insert list.pop list.remove set.add set.clear set.discard set.pop set.remove " +
			"dict.clear dict.get dict.items dict.keys dict.pop dict.popitem dict.setdefault dict.update dict.values",
	})
)

// mutators are the methods that change a list, dict or set.
const mutators = " append extend insert update pop setdefault clear remove add discard popitem sort reverse "

// method finds a method. Of an unknown value it may be that of any type, but must
// mean the same for all.
func method(t typ, name string) (typ, bool) {
	if t.class == unknown {
		for _, c := range []class{aStr, aList, aDict, aSet} {
			if m, ok := methods()[string(c)+"."+name]; ok {
				if c == aStr {
					return m.typ, true
				}
				return typ{}, true
			}
		}
		return typ{}, false
	}
	m, ok := methods()[string(t.class)+"."+name]
	switch string(t.class) + "." + name {
	case "dict.get", "dict.pop", "dict.setdefault":
		return t.valueType(), ok
	case "dict.keys":
		return typ{class: aList, elem: t.key}, ok
	case "dict.values":
		return typ{class: aList, elem: t.elem}, ok
	case "dict.items":
		return typ{class: aList, elem: &typ{class: aTuple, key: t.key, elem: t.elem, spec: "item"}}, ok
	case "list.pop":
		return t.elemType(), ok
	}
	return m.typ, ok
}

// starlarkTypes are what type() says in Starlark, by the name of Python's class.
var starlarkTypes = map[string][]string{
	"str": {"string"}, "int": {"int", "bool"}, "float": {"float"}, "bool": {"bool"},
	"list": {"list"}, "dict": {"dict"}, "tuple": {"tuple"}, "set": {"set"},
}

// adviceOn says what to do instead of functions of Python's own.
var adviceOn = map[string]string{
	"round": ": Python rounds halves to even; write int(x + 0.5) if that will do", "type": ": write isinstance",
	"open": ": a component reads no files", "input": ": a component asks nothing", "super": ": there are no classes",
	"str": " with these arguments", "repr": " with these arguments", "sum": " without values", "format": " without a format",
	"pow": ": write the product", "next": ": write x[0]", "divmod": ": write // and %", "frozenset": ": write set",
	"hex": ": write an f-string such as f\"{x:#x}\"",
}

// adviceOnMethods says what to do instead of methods.
var adviceOnMethods = map[string]string{
	"format": " on a text that is not written out here", "zfill": ": write an f-string such as f\"{x:03d}\"", "encode": ": there are no bytes",
	"splitlines": ", for lines end at more characters in Python: write .split(\"\\n\")",
}

// foreign are functions of Python's own without advice.
const foreign = " iter eval exec bytes callable classmethod compile complex dir globals hash help id issubclass locals object oct bin " +
	"property setattr slice staticmethod vars delattr ascii bytearray memoryview "

// unsupportedNodes says what to do instead of statements and expressions, by Python's
// class.
var unsupportedNodes = map[string]string{
	"NamedExpr": "`:=` has no counterpart: assign first", "Await": "`await` has no counterpart", "Yield": "`yield` has no counterpart: build a list",
	"YieldFrom": "`yield` has no counterpart: build a list", "Starred": "`*` is not supported here: join the lists with +",
	"Try": "`try` has no counterpart: Starlark cannot catch errors, so test before", "TryStar": "`try` has no counterpart",
	"With": "`with` has no counterpart: a component opens nothing", "While": "`while` has no counterpart: write `for … in range(…)` and break",
	"ClassDef": "a class has no counterpart, unless it is an Enum of constants: write functions, or struct(…)",
	"Match":    "`match` has no counterpart: write if and elif", "Global": "`global` has no counterpart: a file's values never change once it is loaded",
	"Nonlocal":         "`nonlocal` has no counterpart: return the value",
	"AsyncFunctionDef": "`async` has no counterpart", "AsyncFor": "`async` has no counterpart", "AsyncWith": "`async` has no counterpart",
	"TypeAlias": "type aliases are not supported: write the type out",
}

// unsupported names a construct that has no counterpart.
func unsupported(n node) string {
	if s, ok := unsupportedNodes[n.at().Kind]; ok {
		return s
	}
	return n.at().Kind + " has no counterpart in Starlark"
}

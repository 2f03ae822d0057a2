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
// use. A name is PYTHON or PYTHON=STARLARK; @FILE.NAME is loaded from @torchx//FILE.star.
func table(byType map[string]string) func() map[string]entry {
	return sync.OnceValue(func() map[string]entry {
		out := map[string]entry{}
		for t, names := range byType {
			for _, name := range strings.Fields(names) {
				python, starlark, ok := strings.Cut(name, "=")
				if !ok {
					starlark = strings.TrimPrefix(python, "torchx.")
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
		"int": "len int ord", "float": "float", "bool": "bool any all hasattr", "str": "chr", "dict": "dict", "set": "set frozenset=set",
		"list": "list", "tuple": "tuple", "list[int]": "range", "list[?]": "sorted reversed enumerate zip", "?": "min max abs print getattr",
	})

	// functions are those of modules.
	functions = table(map[string]string{
		"str": "shlex.quote shlex.join os.path.join=path.join os.path.basename=path.basename os.path.dirname=path.dirname json.dumps=torchx.py.dumps " +
			"os.path.normpath=path.normpath os.fspath=str torchx.specs.overlays.PUT torchx.specs.overlays.JOIN torchx.specs.overlays.DEL " +
			"getpass.getuser=_user os.getcwd=_getcwd torchx.components.dist._args_join=@dist.helpers.args_join " +
			"torchx.components.dist.get_role_name=@dist.helpers.role_name",
		"bool": "os.path.isabs=path.isabs", "tuple[str]": "os.path.splitext=path.splitext", "list[str]": "shlex.split",
		"int": "math.ceil math.floor", "float": "math.sqrt math.log math.exp math.fabs",
		"?": "json.loads=json.decode dataclasses.replace=specs.replace torchx.components.dist.parse_nnodes=@dist.helpers.parse_nnodes " +
			"torchx.components.dist._noquote=@dist.helpers.noquote torchx.util.types.none_throws=_none_throws pyre_extensions.none_throws=_none_throws",
		"dict":           "collections.OrderedDict=dict",
		"StructuredName": "torchx.components.structured_arg.StructuredNameArgument.parse_from=@dist.helpers.structured_name",
		"StructuredJ":    "torchx.components.structured_arg.StructuredJArgument.parse_from=@dist.helpers.structured_j",
		"Resource":       "torchx.specs.resource torchx.specs.get_named_resources torchx.specs.Resource.copy torchx.specs.Resource",
		"list[?]":        "torchx.specs.parse_mounts",
		"AppDef": "torchx.specs.AppDef torchx.components.dist.ddp=@dist.ddp torchx.components.dist.spmd=@dist.spmd torchx.components.utils.echo=@utils.echo " +
			"torchx.components.utils.touch=@utils.touch torchx.components.utils.sh=@utils.sh torchx.components.utils.python=@utils.python " +
			"torchx.components.utils.binary=@utils.binary torchx.components.utils.copy=@utils.copy torchx.components.utils.booth=@utils.booth",
		"Role": "torchx.specs.Role", "Workspace": "torchx.specs.Workspace",
		"BindMount": "torchx.specs.BindMount", "VolumeMount": "torchx.specs.VolumeMount", "DeviceMount": "torchx.specs.DeviceMount",
		"Path": "pathlib.Path=_pure_path pathlib.PurePath=_pure_path pathlib.PurePosixPath=_pure_path pathlib.PosixPath=_pure_path",
	})

	// constants are values of modules.
	constants = table(map[string]string{
		"str": "torchx.IMAGE=torchx.IMAGE torchx.version.TORCHX_IMAGE=torchx.IMAGE torchx.version.__version__=torchx.version torchx.__version__=torchx.version " +
			"torchx.specs.MISSING torchx.specs.NONE",
		"float": "math.pi math.e", "Resource": "torchx.specs.NULL_RESOURCE", "?": "torchx.specs.named_resources",
		"dict[str, str]": "torchx.components.dist._TORCH_DEBUG_FLAGS=@dist.helpers.debug_flags",
	})

	// fields are those of specs values, and of what @torchx//dist.star returns.
	fields = table(map[string]string{
		"str":            "Role.name Role.image Role.entrypoint AppDef.name StructuredName.run_name StructuredName.experiment_name",
		"int":            "StructuredJ.nnodes StructuredJ.nproc_per_node Role.num_replicas Role.max_retries Resource.gpu Resource.memMB",
		"dict[str, str]": "Role.env", "list[str]": "Role.args", "list[Role]": "AppDef.roles", "Resource": "Role.resource", "list[?]": "Role.mounts",
		"dict[?, ?]": "Role.metadata AppDef.metadata Role.port_map Resource.capabilities Resource.devices Resource.tags",
	})

	// methods are those that Starlark has, as TYPE.NAME.
	methods = table(map[string]string{
		"str": "str.capitalize str.lower str.casefold=lower str.lstrip str.removeprefix str.removesuffix str.replace str.rstrip str.strip str.title str.upper",
		"int": "str.count str.find str.index str.rfind str.rindex list.index",
		"bool": "str.endswith str.isalnum str.isalpha str.isdigit str.isdecimal=isdigit str.isnumeric=isdigit str.islower str.isspace str.istitle " +
			"str.isupper str.startswith set.issubset set.issuperset",
		"tuple[str]": "str.partition str.rpartition", "list[str]": "str.rsplit str.split",
		"set[?]": "set.difference set.intersection set.symmetric_difference set.union",
		"?": "list.append list.clear list.extend list.insert list.pop list.remove set.add set.clear set.discard set.pop set.remove " +
			"dict.clear dict.get dict.items dict.keys dict.pop dict.popitem dict.setdefault dict.update dict.values",
	})
)

// mutators are the methods that change a list, dict or set.
const mutators = " append extend insert update pop setdefault clear remove add discard popitem sort reverse "

// isMutator reports whether n is a call of a method that changes what it is a method of.
func isMutator(n *node) bool {
	return is(n, "Call") && is(n.Func, "Attribute") && strings.Contains(mutators, " "+n.Func.Attr+" ")
}

// method finds a method. Of an unknown value it may be that of any type, but must
// mean the same for all.
func method(t typ, name string) (entry, bool) {
	if t.class == unknown {
		for _, c := range []class{aStr, aList, aDict, aSet} {
			if m, ok := methods()[string(c)+"."+name]; ok {
				if c != aStr {
					m.typ = typ{}
				}
				return m, true
			}
		}
		return entry{}, false
	}
	m, ok := methods()[string(t.class)+"."+name]
	switch string(t.class) + "." + name {
	case "dict.get", "dict.pop", "dict.setdefault":
		m.typ = t.valueType()
	case "dict.keys":
		m.typ = typ{class: aList, elem: t.key}
	case "dict.values":
		m.typ = typ{class: aList, elem: t.elem}
	case "dict.items":
		m.typ = listOf(item(t.elemType(), t.valueType()))
	case "list.pop":
		m.typ = t.elemType()
	}
	return m, ok
}

// starlarkTypes are what type() says in Starlark, by the name of Python's class.
var starlarkTypes = map[string][]string{
	"str": {"string"}, "int": {"int", "bool"}, "float": {"float"}, "bool": {"bool"},
	"list": {"list"}, "dict": {"dict"}, "tuple": {"tuple"}, "set": {"set"},
}

// canonical gives things that have several names in TorchX and Python one.
func canonical(full string) string {
	for _, alias := range [][2]string{
		{"torchx.specs.api.", "torchx.specs."},
		{"torchx.specs.builders.", "torchx.specs."},
		{"torchx.specs.overlays.overlays.", "torchx.specs.overlays."},
		{"torchx.specs.file_linter.", "torchx.specs."},
		{"posixpath.", "os.path."},
		{"typing_extensions.", "typing."},
		{"collections.abc.", "typing."},
		{"torchx.components.dist.Structured", "torchx.components.structured_arg.Structured"},
	} {
		if rest, ok := strings.CutPrefix(full, alias[0]); ok {
			return alias[1] + rest
		}
	}
	if full == "torchx.specs.api" {
		return "torchx.specs"
	}
	return full
}

// preludes are helpers for what Starlark lacks. A name of another one, and TORCHX, path and fail,
// are replaced.
var preludes = map[string]string{
	"_sum": `def _sum(values, start = 0):
    total = start
    for v in values:
        total += int(v) if type(v) == "bool" else v
    return total
`,
	"_require_env": `def _require_env(name):
    value = TORCHX.getenv(name)
    if value == None:
        FAIL("the environment variable %s is not set" % name)
    return value
`,
	"_user": `def _user():
    for name in ["LOGNAME", "USER", "LNAME", "USERNAME"]:
        if TORCHX.getenv(name):
            return TORCHX.getenv(name)
    return FAIL("no user name: set the environment variable USER")
`,
	"_getcwd": `def _getcwd():
    return TORCHX.getenv("PWD", ".")
`,
	"_none_throws": `def _none_throws(value, message = "Unexpected ` + "`None`" + `"):
    if value == None:
        FAIL(message)
    return value
`,
	"_matches": `def _matches(parts, text):
    for part in parts: # None stands for digits
        rest = text.lstrip("0123456789") if part == None else text.removeprefix(part)
        if rest == text:
            return False
        text = rest
    return text in ["", "\n"]
`,
	"_round": `def _round(x):
    whole = int(MATH.floor(x))
    return whole + 1 if x - whole > 0.5 or x - whole == 0.5 and whole % 2 == 1 else whole
`,
	"_power": `def _power(base, exponent):
    if exponent < 0:
        FAIL("%d is no exponent here" % exponent)
    product = 1
    for _ in range(exponent):
        product *= base
    return product
`,
	"_with_item": `def _with_item(items, index, item):
    changed = list(items)
    changed[index] = item
    return changed
`,
	"_with_role": `def _with_role(app, index, role):
    roles = list(app.roles)
    roles[index] = role
    return SPECS.replace(app, roles = roles)
`,
	"_pure_path": `def _pure_path(*parts):
    joined = PATH.join("", *parts)
    root = "/" if joined.startswith("/") else ""
    return (root + "/".join([p for p in joined.split("/") if p not in ["", "."]])) or "."
`,
}

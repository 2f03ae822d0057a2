package specmodule

import "maps"

// Doc is the help text of one predeclared name.
type Doc struct {
	Signature string // as it would be declared: `specs.resource(cpu = None, …)`
	Text      string // one paragraph without line breaks
}

// Docs returns the documentation of all predeclared names, by their full names
// ("specs.Role", "shlex.quote", "struct"). The caller owns the map.
func Docs() map[string]Doc { return maps.Clone(docs) }

var docs = map[string]Doc{
	"specs": {"specs", "What apps are made of, with the names of TorchX."},
	"specs.AppDef": {
		"specs.AppDef(name, roles = [], metadata = {})",
		"An app: a name and the roles that start and end together. This is what a component returns.",
	},
	"specs.Role": {
		`specs.Role(name, image, min_replicas = None, entrypoint = "<MISSING>", args = [], env = {}, num_replicas = 1, max_retries = 0, retry_policy = specs.RetryPolicy.APPLICATION, resource = specs.NULL_RESOURCE, port_map = {}, metadata = {}, mounts = [], workspace = None, pre_proc = None)`,
		"One kind of process, run as num_replicas equal replicas. Macros are replaced in args, the values of env and metadata. With min_replicas the app goes on while that many replicas are left. workspace is a specs.Workspace or one folder. pre_proc is a function f(backend, request) that returns the planned request changed; request holds dicts and lists as `run --dryrun --json` shows them. metadata[\"torchx\"] says when the role starts and when it is ready: {\"depends_on\": {role: \"started\", \"ready\" or \"succeeded\"}, \"ready\": {\"port\": name or number, \"path\": for HTTP} or {\"log\": RE2 of a line}, with initial_delay, period and timeout in seconds}; its other keys are the backends'.",
	},
	"specs.Resource": {
		"specs.Resource(cpu, gpu, memMB, capabilities = {}, devices = {}, tags = {})",
		"What one replica asks for: CPUs (a fraction is fine), GPUs, memory in MB, capabilities of the host, device names with counts. A negative number means that nothing is said.",
	},
	"specs.Resource.copy": {
		"specs.Resource.copy(original, **capabilities)",
		"A copy of a resource with these capabilities put over its own.",
	},
	"specs.resource": {
		"specs.resource(cpu = None, gpu = None, memMB = None, h = None)",
		"The resource named h if that is given, else one of the numbers given; 2 CPUs, 0 GPUs and 1024 MB stand for what is missing or 0.",
	},
	"specs.named_resources": {
		"specs.named_resources[name]",
		`A read-only mapping of names such as "gpu.small" or "aws_p4d.24xlarge" to resources.`,
	},
	"specs.get_named_resources": {
		"specs.get_named_resources(res)",
		"The named resource res: the same as specs.named_resources[res].",
	},
	"specs.NULL_RESOURCE": {"specs.NULL_RESOURCE", "The resource that says nothing: all numbers are -1."},
	"specs.MISSING":       {"specs.MISSING", "The text that stands for an entry point that was not given."},
	"specs.NONE":          {"specs.NONE", "The text that stands for no image."},
	"specs.BindMount": {
		"specs.BindMount(src_path, dst_path, read_only = False)",
		"Mounts a path of the host into the container.",
	},
	"specs.VolumeMount": {
		"specs.VolumeMount(src, dst_path, read_only = False)",
		"Mounts a named volume into the container.",
	},
	"specs.DeviceMount": {
		`specs.DeviceMount(src_path, dst_path, permissions = "rwm")`,
		"Gives the container a device of the host; permissions are letters of rwm (read, write, make nodes).",
	},
	"specs.parse_mounts": {
		"specs.parse_mounts(opts)",
		`Mounts from options: a list such as ["type=bind", "src=/a", "dst=/b", "readonly"], one string with commas, or None. Each type (bind, volume or device) begins a mount. Keys: src or source; dst, destination or target; readonly or read_only, alone or with a bool; perm or permissions for devices. A bind source may begin with ~.`,
	},
	"specs.RetryPolicy": {
		"specs.RetryPolicy",
		"What is started again when a replica fails for good while retries are left.",
	},
	"specs.RetryPolicy.REPLICA":     {"specs.RetryPolicy.REPLICA", "Only the failed replica."},
	"specs.RetryPolicy.ROLE":        {"specs.RetryPolicy.ROLE", "All replicas of its role."},
	"specs.RetryPolicy.APPLICATION": {"specs.RetryPolicy.APPLICATION", "All replicas of the app."},
	"specs.macros": {
		"specs.macros",
		"Texts that are replaced for each replica when the app is planned.",
	},
	"specs.macros.img_root":   {"specs.macros.img_root", "The root of the role's files: the image folder or working folder on local, empty in containers."},
	"specs.macros.app_id":     {"specs.macros.app_id", "The id of the app."},
	"specs.macros.replica_id": {"specs.macros.replica_id", "The number of the replica within its role, from 0."},
	"specs.macros.rank0_env":  {"specs.macros.rank0_env", "The name of the variable that holds the host of the first role's replica 0."},
	"specs.Workspace": {
		"specs.Workspace(projects)",
		"Local folders to put into the image: a dict of local path to sub-folder of the image (empty for its root).",
	},
	"specs.replace": {
		"specs.replace(value, **changes)",
		"A copy of an app, role, resource, mount or workspace with some fields changed. Values themselves never change.",
	},
	"specs.overlay": {
		`specs.overlay(kind, overlay, base = None, backend = "kubernetes")`,
		`Role metadata that merges overlay into the backend's generated object of that kind, such as "V1Pod". Dicts merge, lists are appended to, a tuple replaces a list, other values replace; keys from specs.overlays do otherwise. base is metadata to extend.`,
	},
	"specs.overlays": {"specs.overlays", "Keys for the dicts of an overlay, and a function that sets one on a role."},
	"specs.overlays.PUT": {
		"specs.overlays.PUT(field)",
		"The key whose value replaces the field, whatever is there.",
	},
	"specs.overlays.JOIN": {
		"specs.overlays.JOIN(field, on)",
		"The key whose list of dicts is merged into the field's list: an item with the same value of on gets the new fields, others are appended.",
	},
	"specs.overlays.DEL": {"specs.overlays.DEL(field)", "The key that removes the field; its value is ignored."},
	"specs.overlays.with_overlay": {
		"specs.overlays.with_overlay(role, backend, kind, overlay)",
		"A copy of the role with an overlay added to those in its metadata.",
	},
	"torchx":         {"torchx", "The program that runs the component."},
	"torchx.IMAGE":   {"torchx.IMAGE", "The default image of components."},
	"torchx.version": {"torchx.version", "The version of the program."},
	"torchx.getenv": {
		"torchx.getenv(name, default = None)",
		"The value of a variable in the caller's environment. What was read is kept in the app's record.",
	},
	"torchx.py":      {"torchx.py", "Texts as Python writes them, for components that were ported from it."},
	"torchx.py.str":  {"torchx.py.str(x)", "The text that str(x) gives in Python: floats and what is in lists and dicts are written otherwise than by str."},
	"torchx.py.repr": {"torchx.py.repr(x)", "The text that repr(x) gives in Python, with single quotes."},
	"torchx.py.format": {
		`torchx.py.format(x, spec = "")`,
		`Python's format() of text and numbers: torchx.py.format(3, "02d") is "03", torchx.py.format(0.125, ".2f") is "0.12".`,
	},
	"torchx.py.dumps": {
		"torchx.py.dumps(obj, indent = None, sort_keys = False, separators = None, ensure_ascii = True)",
		"The text that json.dumps gives in Python: keys stay in their order, and there are spaces behind commas and colons.",
	},
	"json": {"json", "JSON texts."},
	"json.encode": {
		"json.encode(x)",
		"The JSON text of a value; keys of dicts are sorted, specs values are written as in `describe --json`.",
	},
	"json.encode_indent": {`json.encode_indent(x, prefix = "", indent = "\t")`, "The same as json.indent(json.encode(x))."},
	"json.decode":        {"json.decode(x, default)", "The value of a JSON text. If it is not valid: default if given, else an error."},
	"json.indent":        {`json.indent(str, prefix = "", indent = "\t")`, "A JSON text laid out in lines."},
	"math":               {"math", "Functions and constants for floats, as in Starlark's standard library: ceil, floor, round, sqrt, pow, log, pi …"},
	"struct":             {"struct(**fields)", "An immutable value with these attributes."},
	"shlex":              {"shlex", "Words of a POSIX shell, with the rules of Python's shlex."},
	"shlex.quote":        {"shlex.quote(s)", "The text that a shell reads as the one word s."},
	"shlex.join":         {"shlex.join(split_command)", "The words of a list, quoted and joined by spaces."},
	"shlex.split":        {"shlex.split(s)", "The words of a shell text. Quotes and backslashes count; comments, variables and patterns do not."},
	"path":               {"path", "Slash-separated paths, with the rules of Python's posixpath; nothing is looked up on disk."},
	"path.join":          {"path.join(path, *paths)", "The parts joined by slashes; an absolute part drops all before it."},
	"path.basename":      {"path.basename(path)", "What follows the last slash."},
	"path.dirname":       {"path.dirname(path)", "What precedes the last slash."},
	"path.stem":          {"path.stem(path)", "The name of the file or folder without its last extension."},
	"path.splitext":      {"path.splitext(path)", "A tuple of the path without its extension and the extension with its dot."},
	"path.isabs":         {"path.isabs(path)", "Whether the path begins with a slash."},
	"path.normpath":      {"path.normpath(path)", "The path without empty parts, `.` and, where possible, `..`."},
}

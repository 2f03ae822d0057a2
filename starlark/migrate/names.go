package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"torchx/runtime/suggest"
	"torchx/starlark/specmodule"
)

// porter ports one file.
type porter struct {
	name     string
	comments []comment
	problems []Problem
	notes    []Problem
	refused  []Problem // components that TorchX does not take either

	imports map[string]string  // local names of what was imported, to its full name in Python
	globals map[string]*global // what the file itself defines
	bound   map[string]bool    // every name that is bound anywhere in the file
	known   map[string]string  // the predeclared names that ports may use, "specs.Role", to their signatures
	depth   int
	// unordered: what is iterated goes into something that has no order, or another one.
	unordered bool
	changed   map[string]bool // lists and dicts of the file that its statements change
	// unproved are functions of which it is not known that they return what their
	// annotation says.
	unproved map[string]bool

	prelude    map[string]bool   // helpers that the port needs
	aliases    map[string]bool   // predeclared names that are hidden somewhere
	loads      map[string]string // "dist.ddp" to the name it is loaded as
	components []string
	scope      *scope
}

// global is a name that the file defines.
type global struct {
	name   string // in the port
	def    *node  // of a function
	enum   *enum  // of a class of enumerated values
	typ    typ    // of a constant
	broken string // why it could not be ported
	keeps  map[string]bool
}

// scope is a function that is being ported.
type scope struct {
	def    *node
	parent *scope
	types  map[string]typ // of parameters and local variables
	// failed: something in it could not be ported.
	failed bool
}

func newPorter(name string, d *dumped) *porter {
	p := &porter{
		name: name, comments: d.Comments,
		imports: map[string]string{}, globals: map[string]*global{}, bound: map[string]bool{}, known: map[string]string{},
		prelude: map[string]bool{}, aliases: map[string]bool{}, loads: map[string]string{}, unproved: map[string]bool{},
	}
	for full, doc := range specmodule.Docs() {
		p.known[full] = doc.Signature
	}
	d.Tree.walk(func(n *node) bool {
		for _, b := range binds(n) {
			p.bound[b] = true
		}
		return true
	})
	return p
}

// fail notes a place that cannot be ported, and returns something in its place.
func (p *porter) fail(n *node, format string, args ...any) value {
	p.problems = append(p.problems, Problem{p.name, n.line, fmt.Sprintf(format, args...)})
	if p.scope != nil {
		p.scope.failed = true
	}
	return value{doc: text("None"), prec: precPrimary}
}

func (p *porter) note(line int, format string, args ...any) {
	p.notes = append(p.notes, Problem{p.name, line, fmt.Sprintf(format, args...)})
}

// binds lists the names that a node itself binds, imports aside.
func binds(n *node) []string {
	switch n.kind {
	case "FunctionDef", "AsyncFunctionDef", "ClassDef":
		return []string{n.text("name")}
	case "arg":
		return []string{n.text("arg")}
	case "Assign":
		return targets(n.list("targets")...)
	case "AnnAssign", "AugAssign", "For", "comprehension", "NamedExpr":
		return targets(n.node("target"))
	case "withitem":
		return targets(n.node("optional_vars"))
	case "ExceptHandler":
		return []string{n.text("name")}
	}
	return nil
}

// targets lists the names within the left sides of assignments.
func targets(list ...*node) []string {
	var out []string
	for _, n := range list {
		switch {
		case n.is("Name"):
			out = append(out, n.text("id"))
		case n.is("Tuple", "List"):
			out = append(out, targets(n.list("elts")...)...)
		case n.is("Starred"):
			out = append(out, targets(n.node("value"))...)
		}
	}
	return out
}

// predeclared returns the name that a predeclared module or function has in the
// port: another one if the file itself uses it for something else.
func (p *porter) predeclared(full string) string {
	root, rest, dotted := strings.Cut(full, ".")
	if !p.bound[root] {
		return full
	}
	p.aliases[root] = true
	if dotted {
		return "_" + root + "." + rest
	}
	return "_" + root
}

// local returns the scope, from the innermost, whose variable the name is.
func (p *porter) local(name string) *scope {
	for s := p.scope; s != nil; s = s.parent {
		if _, ok := s.types[name]; ok {
			return s
		}
	}
	return nil
}

// full returns the full name in Python of what a name or a.b.c refers to if that
// was imported: "torchx.specs.AppDef". "" if it was not.
func (p *porter) full(n *node) string {
	switch {
	case n.is("Name"):
		id := n.text("id")
		if p.local(id) != nil || p.globals[id] != nil {
			return ""
		}
		return p.imports[id]
	case n.is("Attribute"):
		if base := p.full(n.node("value")); base != "" {
			return canonical(base + "." + n.text("attr"))
		}
	}
	return ""
}

// canonical gives things that have several names in TorchX and Python one.
func canonical(full string) string {
	for _, from := range []string{"torchx.specs.api.", "torchx.specs.builders.", "torchx.specs.file_linter."} {
		if rest, ok := strings.CutPrefix(full, from); ok {
			return "torchx.specs." + rest
		}
	}
	if rest, ok := strings.CutPrefix(full, "posixpath."); ok {
		return "os.path." + rest
	}
	if full == "torchx.specs.api" {
		return "torchx.specs"
	}
	return full
}

// importName takes an import statement over.
func (p *porter) importName(n *node) {
	for _, a := range n.list("names") {
		name, as := a.text("name"), a.text("asname")
		if n.is("ImportFrom") {
			p.importFrom(n, name, as)
			continue
		}
		if as == "" {
			as, _, _ = strings.Cut(name, ".")
			name = as
		}
		p.imports[as] = canonical(name)
	}
}

func (p *porter) importFrom(n *node, name, as string) {
	module := n.text("module")
	if name == "*" {
		if module != "typing" {
			p.fail(n, "`from %s import *` brings names that are not known: import them one by one", module)
		}
		return
	}
	if as == "" {
		as = name
	}
	if level := n.number("level"); level > 0 {
		module = strings.Repeat(".", level) + module
	}
	p.imports[as] = canonical(module + "." + name)
}

// translations are functions and values of Python modules with the name that does
// the same here.
var translations = map[string]string{
	"torchx.version.TORCHX_IMAGE": "torchx.IMAGE", "torchx.version.__version__": "torchx.version", "torchx.__version__": "torchx.version",
	"torchx.specs.named_resources": "specs.named_resources",
	"shlex.quote":                  "shlex.quote", "shlex.join": "shlex.join", "shlex.split": "shlex.split",
	"os.path.join": "path.join", "os.path.basename": "path.basename", "os.path.dirname": "path.dirname",
	"os.path.splitext": "path.splitext", "os.path.isabs": "path.isabs", "os.path.normpath": "path.normpath",
	"math.ceil": "math.ceil", "math.floor": "math.floor", "math.sqrt": "math.sqrt", "math.log": "math.log",
	"math.pi": "math.pi", "math.e": "math.e", "math.fabs": "math.fabs", "math.exp": "math.exp",
	"json.loads": "json.decode", "dataclasses.replace": "specs.replace",
}

// imported ports a reference to something imported.
func (p *porter) imported(n *node, full string) value {
	if to, ok := translations[full]; ok {
		return value{doc: text(p.predeclared(to)), prec: precPrimary, typ: typeOfName(to)}
	}
	if rest, ok := strings.CutPrefix(full, "torchx.specs."); ok {
		return p.specsName(n, rest)
	}
	if full == "torchx.specs" {
		return value{doc: text(p.predeclared("specs")), prec: precPrimary}
	}
	if name, ok := p.builtinComponent(full); ok {
		return value{doc: text(name), prec: precPrimary}
	}
	return p.fail(n, "%s has no counterpart in a component file%s", full, advice(full))
}

// specsName ports torchx.specs.NAME.
func (p *porter) specsName(n *node, name string) value {
	name = strings.TrimPrefix(name, "overlays.overlays.")
	full := "specs." + strings.TrimSuffix(name, ".value")
	if p.known[full] == "" {
		var among []string
		for k := range p.known {
			if strings.HasPrefix(k, "specs.") {
				among = append(among, k)
			}
		}
		slices.Sort(among)
		return p.fail(n, "%s has no counterpart in a component file.%s", full, suggest.Hint(full, among))
	}
	t := typeOfName(full)
	if t.class == aStr && strings.HasSuffix(name, ".value") {
		t.spec = ""
	}
	return value{doc: text(p.predeclared(full)), prec: precPrimary, typ: t}
}

// typeOfName is the type of a predeclared value.
func typeOfName(full string) typ {
	switch {
	case strings.HasPrefix(full, "specs.RetryPolicy."):
		return typ{class: aStr, spec: retryPolicy}
	case full == "specs.RetryPolicy":
		return typ{spec: retryPolicy}
	case strings.HasPrefix(full, "specs.macros."),
		full == "torchx.IMAGE", full == "torchx.version", full == "specs.MISSING", full == "specs.NONE":
		return of(aStr)
	case full == "specs.NULL_RESOURCE":
		return typ{class: aSpec, spec: "Resource"}
	case full == "math.pi", full == "math.e":
		return of(aFloat)
	}
	return typ{}
}

// builtinComponent returns the name that a component of torchx.components is
// loaded as.
func (p *porter) builtinComponent(full string) (string, bool) {
	rest, ok := strings.CutPrefix(full, "torchx.components.")
	module, function, dotted := strings.Cut(rest, ".")
	if !ok || !dotted || !builtinComponents[rest] {
		return "", false
	}
	name := module + "_" + function
	for p.bound[name] {
		name += "_"
	}
	p.loads[rest] = name
	return name, true
}

// builtinComponents are those of TorchX that are built in here.
var builtinComponents = map[string]bool{
	"dist.ddp": true, "dist.spmd": true, "utils.echo": true, "utils.touch": true, "utils.sh": true, "utils.python": true,
	"utils.binary": true, "utils.copy": true, "utils.booth": true,
}

// advice says what to do instead of a thing of Python's.
func advice(full string) string {
	root, _, _ := strings.Cut(strings.TrimLeft(full, "."), ".")
	switch {
	case strings.HasPrefix(full, "."):
		return ": port that file too, and load() it"
	case root == "os", root == "pathlib", root == "subprocess", root == "shutil", root == "socket", root == "getpass":
		return ": a component is a pure function; take the value as an argument"
	case root == "random", root == "time", root == "datetime", root == "uuid":
		return ": a component gives the same app each time; take the value as an argument"
	}
	return ""
}

func sortByPlace(list []*node) {
	slices.SortStableFunc(list, func(a, b *node) int {
		al, ac := a.place()
		bl, bc := b.place()
		return cmp.Or(cmp.Compare(al, bl), cmp.Compare(ac, bc))
	})
}

// place is where a node begins; one without a position begins with its first child.
func (n *node) place() (line, col int) {
	if n.line > 0 {
		return n.line, n.col
	}
	for _, c := range n.children() {
		if line, col := c.place(); line > 0 {
			return line, col
		}
	}
	return 0, 0
}

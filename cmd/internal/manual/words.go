package manual

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/results"
	"torchx/cmd/internal/top"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// positional offers values of the argument that the command's usage line names: HANDLE,
// HANDLE[/ROLE…, COMPONENT, FILE, BACKEND or a choice such as bash|zsh.
func (c *completer) positional(ctx context.Context) {
	cmd := c.command()
	if cmd == nil {
		return
	}
	usage, _, _ := strings.Cut(cmd.UsageText, "\n")
	arguments := operands(usage)
	at := len(c.line.positionals)
	if n := len(arguments); n > 0 && strings.HasSuffix(arguments[n-1], "...") {
		at = min(at, n-1)
	}
	if at >= len(arguments) {
		if _, set := c.line.flags["print"]; set && cmd.Name == "builtins" {
			c.components(false)
		}
		return
	}
	argument := arguments[at]
	switch {
	case strings.HasPrefix(c.line.verb.Name, "lib "):
		c.libraryWords(cmd.Name, at)
	case cmd.Name == "diff":
		c.components(true)
		c.handles(ctx, cmd.Name, false)
	case cmd.Name == "metrics" && at > 0:
		c.metricNames(ctx)
		c.handles(ctx, cmd.Name, true)
	case cmd.Name == "tag" && !slices.ContainsFunc(c.line.positionals, func(word string) bool { return strings.Contains(word, "=") }):
		c.handles(ctx, cmd.Name, false)
	case c.line.verb.Name == "output get" && at > 0:
		c.outputFiles(ctx, c.line.positionals[0])
	case cmd.Name == "new", cmd.Name == "doc":
		c.files = true
	case strings.HasPrefix(argument, "HANDLE"):
		c.handles(ctx, cmd.Name, strings.Contains(argument, "/ROLE"))
	case argument == "COMPONENT":
		c.components(true)
	case strings.HasPrefix(argument, "FILE"), strings.HasPrefix(argument, "PATH"):
		c.files = true
	case strings.HasPrefix(argument, "BACKEND"):
		c.backendNames(false)
	case strings.Contains(argument, "|"):
		c.words(strings.Split(argument, "|")...)
	}
}

// operands returns the positional arguments of a usage line.
func operands(usage string) []string {
	var out []string
	inFlag := false
	for w := range strings.FieldsSeq(usage) {
		switch {
		case inFlag:
			inFlag = !strings.HasSuffix(w, "]")
		case strings.HasPrefix(w, "[-"):
			inFlag = !strings.HasSuffix(w, "]")
		case w == "[options]" || strings.HasPrefix(w, "["+"component") || w == "arguments]":
		default:
			out = append(out, strings.TrimSuffix(strings.TrimPrefix(w, "["), "]"))
		}
	}
	return out
}

// flagValue offers values of a flag by its first name; typed is the value up to the cursor. For
// most flags the placeholder of the help tells what they take.
func (c *completer) flagValue(ctx context.Context, name, typed string) {
	verb := c.verbName()
	switch name {
	case "backend":
		c.backendNames(true)
	case "cfg":
		c.options(typed)
	case "state":
		c.states(verb)
	case "streams":
		for _, s := range backend.Streams {
			c.words(string(s))
		}
	case "log_level":
		c.words("debug", "info", "warning", "error")
	case "sort":
		if verb == "list" {
			c.words(apps.ListOrders...)
		} else {
			c.words(top.TopOrders...)
		}
	case "x":
		c.words(results.XAxes...)
	case "early-stop":
		c.words("median", "asha")
	case "output":
		if verb == "list" {
			c.words(apps.ListFormats...)
		}
	case "tag":
		c.tags(ctx, typed)
	case "component":
		c.recordedValues(ctx, func(a *history.App) string { return a.Component })
	case "name":
		c.recordedValues(ctx, func(a *history.App) string { return a.Name })
	case "parent", "parent-run-id":
		c.handles(ctx, "", false)
	case "roles":
		c.roles(ctx)
	case "print":
		c.components(false)
	case "artifact":
		if len(c.line.positionals) > 0 {
			c.outputFiles(ctx, c.line.positionals[0])
		}
	default:
		c.placeholderValue(name)
	}
}

// placeholderValue offers values of a flag by the placeholder in its help.
func (c *completer) placeholderValue(name string) {
	for _, f := range c.flags() {
		if f.Names()[0] != name {
			continue
		}
		switch placeholder := grammar.Describe(f).Placeholder; {
		case placeholder == "FILE":
			c.files = true
		case placeholder == "FOLDER", placeholder == "DIR":
			c.folder = true
		case strings.Contains(placeholder, "|"):
			c.words(strings.Split(placeholder, "|")...)
		}
		return
	}
}

// states offers the states that a command selects by.
func (c *completer) states(verb string) {
	states := apps.StateNames()
	if verb == "prune" {
		states = apps.TerminalStates()
	}
	for _, s := range states {
		c.words(strings.ToLower(s))
	}
	if verb == "list" {
		c.add("queued", "in the queue of this machine")
	}
}

func (c *completer) words(words ...string) {
	for _, w := range words {
		c.add(w, "")
	}
}

func (c *completer) backendNames(aliases bool) {
	reg, err := c.Registry()
	if err != nil {
		return
	}
	for _, n := range reg.Names() {
		c.add(n, "")
		for _, a := range reg.AliasesOf(n) {
			if aliases && c.current != "" && !strings.HasPrefix(n, c.current) {
				c.add(a, "alias of "+n)
			}
		}
	}
}

// options offers the keys of the backend's -cfg, then their values.
func (c *completer) options(typed string) {
	reg, err := c.Registry()
	if err != nil {
		return
	}
	name := c.line.flags["backend"]
	if name == "" {
		name = reg.Names()[0]
	}
	b, err := reg.Get(name)
	if err != nil {
		return
	}
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	key, _, hasValue := strings.Cut(typed[len(before):], "=")
	for _, o := range b.Options() {
		switch {
		case !hasValue:
			c.add(before+o.Key+"=", o.Help)
		case o.Key == key:
			choices := o.Choices
			if o.Type == backend.TypeBool {
				choices = []string{"true", "false"}
			}
			for _, v := range choices {
				c.add(before+key+"="+v, "")
			}
		}
	}
}

// components offers components and, with files, the files and functions of the project.
func (c *completer) components(files bool) {
	loader, err := c.Loader()
	if err != nil {
		return
	}
	if strings.HasPrefix(c.current, "@") {
		for _, s := range loader.LibraryEntries(c.current) {
			c.add(s.Name, s.Doc)
		}
		return
	}
	if file, _, ok := strings.Cut(c.current, ".star:"); ok && files {
		for _, s := range loader.Functions(file + ".star") {
			c.add(s.Name, s.Doc)
		}
		return
	}
	if !strings.Contains(c.current, "/") {
		for _, s := range loader.Known() {
			c.add(s.Name, s.Doc)
		}
	}
	if files {
		c.starFiles()
	}
	if c.current == "" {
		for _, s := range loader.LibraryEntries("@") {
			c.add(s.Name, "a library of the project")
		}
	}
}

// libraryWords offers names of libraries or folders for an argument of a `lib` command.
func (c *completer) libraryWords(command string, at int) {
	_, isReplace := c.line.flags["replace"]
	switch {
	case command == "remove", command == "update", command == "add" && isReplace && at == 0:
		c.words(c.OpenLibraries().Names(c.ProjectRoot())...)
	case command == "add":
		c.folder = at == 1
	}
}

// starFiles offers component files and folders to look for them in.
func (c *completer) starFiles() {
	dir, _ := path.Split(c.current)
	from := dir
	if from == "" {
		from = "."
	}
	entries, err := os.ReadDir(c.Env.Absolute(from))
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := os.Stat(path.Join(c.Env.Absolute(from), e.Name()))
		switch {
		case err != nil || strings.HasPrefix(e.Name(), "."):
		case info.IsDir():
			c.add(dir+e.Name()+"/", "")
		case strings.HasSuffix(e.Name(), ".star"):
			c.add(dir+e.Name()+":", "")
		}
	}
}

// roles offers the roles of the app on the line, as a comma list.
func (c *completer) roles(ctx context.Context) {
	if len(c.line.positionals) == 0 {
		return
	}
	before := c.current[:strings.LastIndexByte(c.current, ',')+1]
	for _, r := range c.rolesOf(ctx, c.line.positionals[0]) {
		c.add(before+r.Name, "")
	}
}

func (c *completer) rolesOf(ctx context.Context, handle string) []spec.Role {
	row := c.record(ctx, handle)
	var app spec.App
	if row == nil || json.Unmarshal(row.Spec, &app) != nil {
		return nil
	}
	return app.Roles
}

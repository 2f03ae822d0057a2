package main

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"torchx/backends/all"
	"torchx/backends/driver"
	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/starlark/specmodule"
)

var updateReference = flag.Bool("update", false, "rewrite docs/reference")

const referenceDir = "../../docs/reference"

// TestReference: the generated pages of docs/reference are current. `make reference` writes
// them.
func TestReference(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"commands.md":   commandsPage(),
		"options.md":    optionsPage(t),
		"resources.md":  resourcesPage(),
		"exit-codes.md": exitCodesPage(),
		"language.md":   languagePage(t),
		"json.md":       jsonPage(t),
	} {
		path := filepath.Join(referenceDir, name)
		if *updateReference {
			if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		old, err := os.ReadFile(path)
		if err != nil || string(old) != page {
			t.Errorf("%s is stale (%v): write it with `make reference`", path, err)
		}
	}
}

// markdown builds a page.
type markdown struct{ strings.Builder }

func (p *markdown) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// table writes a table; cells with pipes are escaped.
func (p *markdown) table(head []string, rows [][]string) {
	p.line("| %s |", strings.Join(head, " | "))
	p.line("|%s", strings.Repeat("---|", len(head)))
	for _, row := range rows {
		for i := range row {
			row[i] = strings.ReplaceAll(strings.ReplaceAll(row[i], "|", `\|`), "<", "&lt;")
		}
		p.line("| %s |", strings.Join(row, " | "))
	}
	p.line("")
}

// commandsPage describes every command and flag.
func commandsPage() string {
	app := commandLine()
	p := &markdown{}
	p.line("# Commands\n\nGenerated from the program by `make reference`. `torchx COMMAND --help` prints the same.\n")
	var rows [][]string
	eachCommand(app.Commands, "", func(name string, c *cli.Command) {
		rows = append(rows, []string{fmt.Sprintf("[`%s`](#torchx-%s)", name, strings.ReplaceAll(name, " ", "-")), c.Usage})
	})
	p.table([]string{"command", "what it does"}, rows)
	p.line("Options go before or after the other arguments; those of `run` and `rerun` go before COMPONENT or HANDLE. [Options](options.md) lists the options that every command has.\n")
	eachCommand(app.Commands, "", p.command)
	return strings.TrimRight(p.String(), "\n") + "\n"
}

func eachCommand(commands []*cli.Command, group string, visit func(name string, c *cli.Command)) {
	for _, c := range commands {
		if !c.Hidden {
			visit(group+c.Name, c)
			eachCommand(c.Subcommands, group+c.Name+" ", visit)
		}
	}
}

func (p *markdown) command(name string, c *cli.Command) {
	usage, examples, _ := strings.Cut(c.UsageText, "\n")
	p.line("## torchx %s\n\n    torchx %s %s\n", name, name, usage)
	if c.Description != "" {
		p.line("%s\n", c.Description)
	}
	if len(c.Aliases) > 0 {
		p.line("Alias: `%s`\n", strings.Join(c.Aliases, "`, `"))
	}
	p.flags(c.Flags)
	if examples != "" {
		p.line("Examples:\n\n    %s\n", strings.ReplaceAll(strings.TrimSpace(examples), "\n", "\n    "))
	}
}

// flags describes the visible flags.
func (p *markdown) flags(flags []cli.Flag) {
	var rows [][]string
	for _, f := range flags {
		if label, usage, ok := program.FlagText(f); ok {
			rows = append(rows, []string{"`" + label + "`", usage})
		}
	}
	if len(rows) > 0 {
		p.table([]string{"option", "meaning"}, rows)
	}
}

// optionsPage describes the -cfg options of every backend.
func optionsPage(t *testing.T) string {
	t.Helper()
	p := &markdown{}
	p.line("# Options\n\nGenerated from the program by `make reference`. `torchx COMMAND --help` prints the options of one command, `torchx runopts [BACKEND]` those of a backend.\n")
	p.line("## Every command\n")
	p.flags(commandLine().Flags)
	p.line("## Backends\n")
	p.line("Set them with `-cfg KEY=VALUE,…`, else by a variable `TORCHX_CFG_BACKEND_KEY`, else in the section `[BACKEND]` of `.torchxconfig`. `torchx config explain -b BACKEND` shows which value counts and why.\n")
	p.line("Options with an entry under *needs trust* take effect from the `.torchxconfig` of a folder only if you [trust](commands.md#torchx-config-trust) it.\n")
	reg := all.New(driver.Env{Home: t.TempDir()})
	for _, name := range reg.Names() {
		b, err := reg.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		p.line("### %s\n", name)
		var rows [][]string
		for _, o := range b.Options() {
			rows = append(rows, []string{"`" + o.Key + "`", optionType(o), optionDefault(o), optionRisk(o), o.Help})
		}
		p.table([]string{"option", "type", "default", "needs trust", "meaning"}, rows)
	}
	return strings.TrimRight(p.String(), "\n") + "\n"
}

func optionType(o backend.Option) string {
	if len(o.Choices) > 0 {
		return strings.Join(o.Choices, ", ")
	}
	return string(o.Type)
}

func optionRisk(o backend.Option) string {
	if o.Risk == backend.Harmless {
		return ""
	}
	return string(o.Risk)
}

func optionDefault(o backend.Option) string {
	switch {
	case o.Required:
		return "required"
	case o.Default == nil:
		return ""
	}
	return fmt.Sprintf("`%v`", o.Default)
}

// resourcesPage lists the built-in named resources.
func resourcesPage() string {
	p := &markdown{}
	p.line("# Named resources\n\nGenerated from the program by `make reference`. `torchx component resources` prints the same, with those of your project first.\n")
	p.line("Use a name in `specs.resource(h = \"NAME\")`, in `specs.named_resources[\"NAME\"]`, or as the argument `-h NAME` of a built-in component. Define your own in `.torchxconfig`:\n")
	p.line("    [resource:mine]\n    cpu = 4\n    memMB = 16000\n    gpu = 1\n")
	var rows [][]string
	for _, r := range specmodule.NamedResources() {
		rows = append(rows, []string{"`" + r.Name + "`", strconv.FormatFloat(r.Resource.CPU, 'g', -1, 64), strconv.Itoa(r.Resource.MemMB), strconv.Itoa(r.Resource.GPU)})
	}
	p.table([]string{"name", "CPUs", "memory in MB", "GPUs"}, rows)
	return strings.TrimRight(p.String(), "\n") + "\n"
}

// exitCodesPage lists the exit codes.
func exitCodesPage() string {
	p := &markdown{}
	p.line("# Exit codes\n\nGenerated from the program by `make reference`.\n")
	p.table([]string{"code", "meaning"}, [][]string{
		{"0", "success; of `run` and `wait`: the app succeeded"},
		{strconv.Itoa(program.ExitError), "the command failed"},
		{strconv.Itoa(program.ExitUsage), "wrong usage: an unknown option, a bad value, a missing argument"},
		{strconv.Itoa(spec.ExitDeadline), "the app or a replica exceeded its time limit, or a replica was not ready in time; of `wait`: --timeout ended it"},
		{strconv.Itoa(spec.ExitNotStarted), "the app could not be started or supervised"},
		{strconv.Itoa(spec.ExitNotExecutable), "the entry point is not executable"},
		{strconv.Itoa(spec.ExitNotFound), "the entry point was not found"},
		{strconv.Itoa(program.ExitHangup), "the terminal closed; the app goes on"},
		{strconv.Itoa(program.ExitPipe), "of `run`: the reader of its output is gone; the app goes on"},
		{strconv.Itoa(spec.ExitCancelled), "the app was cancelled, or Ctrl-C ended the command"},
		{fmt.Sprintf("%d + n", spec.ExitSignal), "signal n ended the replica that failed first"},
		{"any other", "of `run` and `wait`: the exit code of the replica that failed first; of `sweep`: of the trial that failed first; `wait` takes the first app that did not succeed"},
	})
	return p.String()
}

// languagePage describes the names that component files see, with the texts of the editor.
func languagePage(t *testing.T) string {
	t.Helper()
	p := &markdown{}
	head, err := os.ReadFile("testdata/language.md")
	if err != nil {
		t.Fatal(err)
	}
	p.WriteString(string(head))
	examples, err := os.ReadFile("../../starlark/specmodule/testdata/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	docs := specmodule.Docs()
	names := slices.Sorted(maps.Keys(docs))
	for _, module := range specmodule.Names() {
		p.line("## %s\n", module)
		if d := docs[module]; d.Text != "" {
			p.line("%s\n", d.Text)
		}
		p.examples(examples, module, "(") // struct
		if module == "math" {
			p.examples(examples, module, ".")
		}
		for _, name := range names {
			if strings.HasPrefix(name, module+".") {
				p.line("### %s\n\n    %s\n\n%s\n", name, docs[name].Signature, docs[name].Text)
				p.examples(examples, name, "([ ")
			}
		}
	}
	return strings.TrimRight(p.String(), "\n") + "\n"
}

// examples writes the examples of a name: the lines that start with it, followed by one of the
// marks. Package specmodule tests them.
func (p *markdown) examples(file []byte, name, marks string) {
	for line := range strings.Lines(string(file)) {
		if rest, ok := strings.CutPrefix(line, name); ok && strings.ContainsAny(rest[:1], marks) {
			expr, value, _ := strings.Cut(strings.TrimSpace(line), " -> ")
			p.line("    %s  # %s\n", expr, value)
		}
	}
}

// TestEnvironmentPage: docs/reference/environment.md names every variable of torchx, and
// the program every variable of the page.
func TestEnvironmentPage(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(referenceDir, "environment.md"))
	if err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`\b(TORCHX[A-Z0-9_]*|NO_COLOR|LOGLEVEL|KUBECONFIG|DOCKER_[A-Z_]+)\b`)
	used := map[string]bool{}
	for _, dir := range []string{"backends", "cmd", "runtime", "starlark", "state"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, m := range regexp.MustCompile(`"([A-Z_0-9]+)"`).FindAllStringSubmatch(string(source), -1) {
				if variable.FindString(m[1]) == m[1] {
					used[m[1]] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"TORCHX", "TORCHX_FAILPOINT", "TORCHX_CLOCK"} { // a word of Python; for tests
		delete(used, name)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if !strings.Contains(string(data), name) {
			t.Errorf("the page does not name %s", name)
		}
	}
	for _, name := range variable.FindAllString(string(data), -1) {
		if !used[name] && !strings.HasPrefix(name, "TORCHX_CFG_") { // an option
			t.Errorf("the page names %s, which the program does not use", name)
		}
	}
}

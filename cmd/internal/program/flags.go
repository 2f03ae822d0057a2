package program

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
)

// JSONFlag returns the flag --json.
func JSONFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print JSON", Destination: to}
}

// BackendFlag returns the flag --backend with its TorchX aliases.
func BackendFlag(to *string, usage string) cli.Flag {
	return &cli.StringFlag{Name: "backend", Aliases: []string{"b", "s", "scheduler"}, Usage: usage, Destination: to}
}

// CfgFlag returns the flag -cfg.
func CfgFlag(to *string) cli.Flag {
	return &cli.StringFlag{
		Name: "cfg", Aliases: []string{"scheduler_args"}, Destination: to,
		Usage: "options of the backend, `K=V,K2=V2` (see torchx runopts)",
	}
}

// CommandName returns the full name of the running command, such as "component test".
func CommandName(c *cli.Context) string {
	name := c.Command.Name
	for _, above := range c.Lineage()[1:] {
		if above.Command == nil || above.Command.Name == c.App.Name {
			break
		}
		name = above.Command.Name + " " + name
	}
	return name
}

// NoArguments returns a usage error for positional arguments.
func NoArguments(c *cli.Context) error { return AtMost(c, 0) }

// Missing returns the usage error for a missing argument, which what names.
func Missing(c *cli.Context, what string) error {
	name := CommandName(c)
	switch {
	case !strings.HasPrefix(what, "HANDLE"):
		return Usagef(name, "missing %s", what)
	case name == "cancel", name == "delete":
		return remedied(name, "missing %s: `torchx list` lists apps", what)
	}
	return remedied(name, "missing %s: `torchx %s -` takes the most recent app, `torchx list` lists apps", what, name)
}

// remedied returns a usage error whose text names what to type.
func remedied(command, format string, args ...any) error {
	return &grammar.UsageError{Command: command, Text: fmt.Sprintf(format, args...), HasRemedy: true}
}

// appNouns are what kubectl and others have before the name of an app.
var appNouns = []string{"app", "apps", "job", "jobs", "pod", "pods", "run", "runs", "container", "deployment"}

// AtMost returns a usage error for more than n positional arguments.
func AtMost(c *cli.Context, n int) error {
	if c.NArg() <= n {
		return nil
	}
	if err := AppNoun(CommandName(c), c.Args().Slice()); err != nil {
		return err
	}
	return Usagef(CommandName(c), "unexpected argument %s", ui.QuoteWord(c.Args().Get(n)))
}

// AppNoun returns a usage error if the first of several arguments is what kubectl and others
// have before the name of an app, else nil.
func AppNoun(command string, arguments []string) error {
	if len(arguments) < 2 || !slices.Contains(appNouns, arguments[0]) {
		return nil
	}
	typed := strings.Join(append([]string{command}, arguments[1:]...), " ")
	return remedied(command, "unexpected argument %s: type `torchx %s`", arguments[0], typed)
}

// OneArgument returns the only positional argument; what names it in errors.
func OneArgument(c *cli.Context, what string) (string, error) {
	if c.NArg() == 0 {
		return "", Missing(c, what)
	}
	return c.Args().First(), AtMost(c, 1)
}

// Count parses the value of a flag as a number that is not negative.
func Count(command, flag, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, Usagef(command, "%s must be a whole number of at least 0, not %s",
			flag, ui.QuoteWord(text))
	}
	return n, nil
}

// Canonical returns the canonical name of a backend on the command line; an unknown name is
// a usage error that lists the known ones.
func (f *Factory) Canonical(command, name string) (backend.Alias, error) {
	reg, err := f.Registry()
	if err != nil {
		return backend.Alias{}, err
	}
	alias, err := reg.Canonical(name)
	if errors.Is(err, backend.ErrNotFound) {
		return alias, remedied(command, "%v", err)
	}
	return alias, err
}

// HandleHelp explains how the command line names an app.
const HandleHelp = "HANDLE is what `torchx run` printed (backend://session/app_id), any unique prefix of an app ID, or - for the most recent app."

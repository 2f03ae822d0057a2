package program

import (
	"errors"
	"strconv"

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

// CommandName is the name of the command that runs, with its group's: "component test".
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

// NoArguments refuses positional arguments.
func NoArguments(c *cli.Context) error { return AtMost(c, 0) }

// AtMost refuses more than n positional arguments.
func AtMost(c *cli.Context, n int) error {
	if c.NArg() > n {
		return Usagef(CommandName(c), "unexpected argument %s", ui.QuoteWord(c.Args().Get(n)))
	}
	return nil
}

// OneArgument returns the only argument, which what names.
func OneArgument(c *cli.Context, what string) (string, error) {
	if c.NArg() == 0 {
		return "", Usagef(CommandName(c), "missing %s", what)
	}
	return c.Args().First(), AtMost(c, 1)
}

// Count reads a number that must not be negative.
func Count(command, flag, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, Usagef(command, "%s must be a whole number from 0, not %s", flag, ui.QuoteWord(text))
	}
	return n, nil
}

// Canonical returns the name of a backend that a flag gave; an unknown one is a
// usage error that lists the known ones.
func (f *Factory) Canonical(command, name string) (backend.Alias, error) {
	reg, err := f.Registry()
	if err != nil {
		return backend.Alias{}, err
	}
	alias, err := reg.Canonical(name)
	if errors.Is(err, backend.ErrNotFound) {
		return alias, &grammar.UsageError{Command: command, Text: err.Error(), HasRemedy: true}
	}
	return alias, err
}

// HandleHelp explains what stands for an app on the command line.
const HandleHelp = "HANDLE is what `torchx run` printed (backend://session/app_id), any unique prefix of an app ID, or - for the most recent app."

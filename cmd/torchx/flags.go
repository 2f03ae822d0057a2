package main

import (
	"errors"
	"strconv"

	"github.com/urfave/cli/v2"

	"torchx/runtime/backend"
)

func jsonFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print JSON", Destination: to}
}

func backendFlag(to *string, usage string) cli.Flag {
	return &cli.StringFlag{Name: "backend", Aliases: []string{"b", "s", "scheduler"}, Usage: usage, Destination: to}
}

func cfgFlag(to *string) cli.Flag {
	return &cli.StringFlag{
		Name: "cfg", Aliases: []string{"scheduler_args"}, Destination: to,
		Usage: "options of the backend, `K=V,K2=V2` (see torchx runopts)",
	}
}

// commandName is the name of the command that runs, with its group's: "component test".
func commandName(c *cli.Context) string {
	name := c.Command.Name
	for _, above := range c.Lineage()[1:] {
		if above.Command == nil || above.Command.Name == c.App.Name {
			break
		}
		name = above.Command.Name + " " + name
	}
	return name
}

func noArguments(c *cli.Context) error { return atMost(c, 0) }

func atMost(c *cli.Context, n int) error {
	if c.NArg() > n {
		return usagef(commandName(c), "unexpected argument %s", quoteWord(c.Args().Get(n)))
	}
	return nil
}

// oneArgument returns the only argument, which what names.
func oneArgument(c *cli.Context, what string) (string, error) {
	if c.NArg() == 0 {
		return "", usagef(commandName(c), "missing %s", what)
	}
	return c.Args().First(), atMost(c, 1)
}

// count reads a number that must not be negative.
func count(command, flag, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, usagef(command, "%s must be a whole number from 0, not %s", flag, quoteWord(text))
	}
	return n, nil
}

// canonical returns the name of a backend that a flag gave; an unknown one is a
// usage error that lists the known ones.
func (t *tool) canonical(command, name string) (backend.Alias, error) {
	reg, err := t.registry()
	if err != nil {
		return backend.Alias{}, err
	}
	alias, err := reg.Canonical(name)
	if errors.Is(err, backend.ErrNotFound) {
		return alias, usagef(command, "%s", unknownBackend(reg, name))
	}
	return alias, err
}

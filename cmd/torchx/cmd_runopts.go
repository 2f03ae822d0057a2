package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/backends"
	"torchx/runtime/suggest"
)

func (t *tool) runoptsCommand() *cli.Command {
	return &cli.Command{
		Name:        "runopts",
		Usage:       "explain the -cfg options of the backends",
		UsageText:   "[BACKEND]\ntorchx runopts local",
		Description: "Explain the options that -cfg and .torchxconfig can set: of one backend, or of all.",
		Action: func(c *cli.Context) error {
			if err := atMost(c, 1); err != nil {
				return err
			}
			return t.runopts(c.Args().First())
		},
	}
}

func (t *tool) runopts(name string) error {
	reg, err := t.registry()
	if err != nil {
		return err
	}
	names := reg.Names()
	if name != "" {
		alias, err := reg.Canonical(name)
		if err != nil {
			return fmt.Errorf("%s", unknownBackend(reg, name))
		}
		names = []string{alias.Backend}
	}
	var b strings.Builder
	for i, n := range names {
		backend, err := reg.Get(n)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		text := backends.UsageText(backend.Options(), terminalWidth(t.out)-4)
		b.WriteString(t.outStyle.paint(ansiBold, n+":") + "\n" + indent(text))
	}
	return t.print(b.String())
}

// unknownBackend says which backends there are and which was probably meant.
func unknownBackend(reg *backends.Registry, name string) string {
	known := reg.Names()
	among := append([]string{}, known...)
	for _, n := range known {
		among = append(among, reg.AliasesOf(n)...)
	}
	return fmt.Sprintf("unknown backend %s: known ones are %s.%s",
		quoteWord(name), strings.Join(known, ", "), suggest.Hint(name, among))
}

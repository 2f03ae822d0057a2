package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/runtime/backend"
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
	var out strings.Builder
	for i, n := range names {
		b, err := reg.Get(n)
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte('\n')
		}
		text := backend.UsageText(b.Options(), terminalWidth(t.out)-4)
		out.WriteString(t.outStyle.paint(ansiBold, n+":") + "\n" + indent(text))
	}
	return t.print(out.String())
}

// unknownBackend says which backends there are and which was probably meant.
func unknownBackend(reg *backend.Registry, name string) string {
	known := reg.Names()
	among := append([]string{}, known...)
	for _, n := range known {
		among = append(among, reg.AliasesOf(n)...)
	}
	return fmt.Sprintf("unknown backend %s: known ones are %s.%s",
		quoteWord(name), strings.Join(known, ", "), suggest.Hint(name, among))
}

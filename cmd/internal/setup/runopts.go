package setup

import (
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
)

// NewRunopts returns the command `runopts`.
func NewRunopts(f *program.Factory) *cli.Command {
	return &cli.Command{
		Name:  "runopts",
		Usage: "explain backend options",
		UsageText: "[BACKEND]\n" +
			"torchx runopts\n" +
			"torchx runopts local",
		Description: "Explain the options that -cfg and .torchxconfig can set, of one backend or of all.",
		Action: func(c *cli.Context) error {
			if err := program.AtMost(c, 1); err != nil {
				return err
			}
			return runopts(f, c.Args().First())
		},
	}
}

func runopts(f *program.Factory, name string) error {
	reg, err := f.Registry()
	if err != nil {
		return err
	}
	names := reg.Names()
	if name != "" {
		alias, err := reg.Canonical(name)
		if err != nil {
			return err
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
		text := backend.UsageText(b.Options(), ui.TerminalWidth(f.Out)-4)
		out.WriteString(f.OutStyle.Paint(ui.AnsiBold, n+":") + "\n" + program.Indent(text))
	}
	return f.Print(out.String())
}

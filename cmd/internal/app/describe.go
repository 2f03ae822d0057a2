package app

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

func NewDescribe(t *program.Factory) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:      "describe",
		Usage:     "show what was submitted",
		UsageText: "HANDLE [--json]\ntorchx describe -",
		Description: "Show the component, the arguments, the options and the app as it was submitted. " + program.SecretsHelp +
			" With it the app of --json can be run again. " + program.HandleHelp,
		Flags: []cli.Flag{program.JSONFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			handle, err := program.OneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			return describe(c.Context, t, handle, asJSON)
		},
	}
}

func describe(ctx context.Context, t *program.Factory, text string, asJSON bool) error {
	r, ref, err := t.Resolve(ctx, text)
	if err != nil {
		return err
	}
	d, err := r.Describe(ctx, ref)
	if err != nil {
		return err
	}
	if asJSON {
		return t.PrintMaskedJSON(d)
	}
	return printDescription(t, d)
}

func printDescription(t *program.Factory, d *runner.Description) error {
	var b strings.Builder
	head := struct {
		Handle    string   `json:"handle"`
		Component *string  `json:"component"`
		Args      []string `json:"args"`
		Partial   bool     `json:"partial,omitempty"`
	}{d.Handle, d.Component, d.Args, d.Partial}
	for _, part := range []struct {
		title string
		value any
	}{{"", head}, {"APPLICATION", d.App}, {"OPTIONS", d.Cfg}} {
		text, err := t.MaskedYAML(part.value)
		if err != nil {
			return err
		}
		if part.title != "" {
			b.WriteString("\n" + t.OutStyle.Paint(ui.AnsiBold, "=== "+part.title+" ===") + "\n")
		}
		b.WriteString(text)
	}
	return t.Print(b.String())
}

package app

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// NewDescribe returns the command `describe`.
func NewDescribe(f *program.Factory) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:  "describe",
		Usage: "show what was submitted",
		UsageText: "HANDLE [--json]\n" +
			"torchx describe -\n" +
			"torchx describe --json echo",
		Description: "Show the component, the arguments, the options and the app as it was submitted. " +
			program.SecretsHelp +
			" With --show-secrets the app of --json can be run again. " +
			program.HandleHelp,
		Flags: []cli.Flag{program.JSONFlag(&asJSON)},
		Action: forApp(f, func(ctx context.Context, r *runner.Runner, ref runner.Ref) error {
			d, err := r.Describe(ctx, ref)
			if err != nil {
				return err
			}
			if asJSON {
				return f.PrintMaskedJSON(d)
			}
			return printDescription(f, d)
		}),
	}
}

func printDescription(f *program.Factory, d *runner.Description) error {
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
		text, err := f.MaskedYAML(part.value)
		if err != nil {
			return err
		}
		if part.title != "" {
			b.WriteString("\n" + f.OutStyle.Paint(ui.AnsiBold, "=== "+part.title+" ===") + "\n")
		}
		b.WriteString(text)
	}
	return f.Print(b.String())
}

package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/runtime/runner"
)

func (t *tool) describeCommand() *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:      "describe",
		Usage:     "show what was submitted",
		UsageText: "HANDLE [--json]\ntorchx describe -",
		Description: "Show the component, the arguments, the options and the app as it was submitted. " + secretsHelp +
			" With it the app of --json can be run again. " + handleHelp,
		Flags: []cli.Flag{jsonFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			handle, err := oneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			return t.describe(c.Context, handle, asJSON)
		},
	}
}

func (t *tool) describe(ctx context.Context, text string, asJSON bool) error {
	r, ref, err := t.resolve(ctx, text)
	if err != nil {
		return err
	}
	d, err := r.Describe(ctx, ref)
	if err != nil {
		return err
	}
	if asJSON {
		return t.printMaskedJSON(d)
	}
	return t.printDescription(d)
}

func (t *tool) printDescription(d *runner.Description) error {
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
		text, err := t.maskedYAML(part.value)
		if err != nil {
			return err
		}
		if part.title != "" {
			b.WriteString("\n" + t.outStyle.paint(ansiBold, "=== "+part.title+" ===") + "\n")
		}
		b.WriteString(text)
	}
	return t.print(b.String())
}

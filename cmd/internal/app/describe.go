package app

import (
	"context"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// describeOptions are the flags of `describe`.
type describeOptions struct{ full, json bool }

// NewDescribe returns the command `describe`.
func NewDescribe(f *program.Factory) *cli.Command {
	o := describeOptions{}
	return &cli.Command{
		Name:      "describe",
		Usage:     "show what was submitted",
		UsageText: "HANDLE [--full] [--json]\ntorchx describe -\ntorchx describe --full echo",
		Description: "Show the component with its arguments, the options that differ from the default, and the roles of an app. Long arguments " +
			"are shortened; --full shows everything that was submitted. " + program.SecretsHelp +
			" With --show-secrets the app of --json can be run again. " + program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "full", Usage: "show all arguments, variables and options", Destination: &o.full},
			program.JSONFlag(&o.json),
		},
		Action: forApp(f, func(ctx context.Context, r *runner.Runner, ref runner.Ref) error { return describe(ctx, f, r, ref, o) }),
	}
}

func describe(ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, o describeOptions) error {
	d, err := r.Describe(ctx, ref)
	if err != nil {
		return err
	}
	hideSecretEnv(f, d)
	switch {
	case o.json:
		return f.PrintMaskedJSON(newDescriptionObject(ref, d))
	case o.full:
		return printDescription(f, d)
	}
	page, err := newDescribePage(ctx, f, r, ref, d)
	if err != nil {
		return err
	}
	return f.Print(page.text())
}

// statusTimeout bounds the wait for the state of a described app: its cluster may be away.
const statusTimeout = 5 * time.Second

// newDescribePage collects what the page shows beside the description. What cannot be read is
// left out.
func newDescribePage(ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, d *runner.Description) (*describePage, error) {
	masked, err := f.MaskedJSON(d.App)
	if err != nil {
		return nil, err
	}
	app, err := decodeApp(masked)
	if err != nil {
		return nil, err
	}
	p := &describePage{screen: newScreen(f), description: d, command: commandText(f, d), app: app}
	if p.options, err = changedOptions(f, r, ref.Backend, d.Cfg); err != nil {
		return nil, err
	}
	if r.History != nil {
		if record, err := r.History.Get(ctx, ref.Backend, ref.ID); err == nil {
			p.folder = record.Cwd
		}
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	if p.status, err = r.Status(ctx, ref); err != nil {
		f.Warn("the state of %s is not known: %v", ref.Handle(), err)
	}
	return p, nil
}

// printDescription prints everything that was submitted, as YAML.
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

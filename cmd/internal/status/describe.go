package status

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/runner"
)

// describeOptions are the flags of `describe`.
type describeOptions struct{ full, json, diff, yaml bool }

// NewDescribe returns the command `describe`.
func NewDescribe(f *program.Factory) *cli.Command {
	o := describeOptions{}
	return &cli.Command{
		Name:      "describe",
		Usage:     "show what was submitted",
		UsageText: "HANDLE [--full] [--diff] [--yaml] [--json]\ntorchx describe -\ntorchx describe --full echo",
		Description: "Show the component with its arguments, the options that differ from the default, and the roles of an app. Long arguments " +
			"are shortened; --full shows everything that was submitted. An app that was submitted from a git checkout shows the commit " +
			"and the changed files; --diff prints their diff, as `git apply` reads it and without hiding secrets. " + program.SecretsHelp +
			" With --show-secrets the app of --json can be run again. " + program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "full", Usage: "show all arguments, variables and options", Destination: &o.full},
			&cli.BoolFlag{Name: "diff", Usage: "print the uncommitted changes that the app was submitted with", Destination: &o.diff},
			&cli.BoolFlag{Name: "yaml", Usage: "print the objects of an app on Kubernetes, as kubectl apply -f - takes them (with --show-secrets complete)", Destination: &o.yaml},
			program.JSONFlag(&o.json),
		},
		Action: apps.ForApp(f, func(ctx context.Context, r *runner.Runner, ref runner.Ref) error { return describe(ctx, f, r, ref, o) }),
	}
}

func describe(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, o describeOptions,
) error {
	if o.diff && (o.full || o.json) {
		return program.Usagef("describe", "--diff cannot be used with --full or --json")
	}
	if o.yaml {
		if o.diff || o.full || o.json {
			return program.Usagef("describe", "--yaml cannot be used with --diff, --full or --json")
		}
		return printManifests(ctx, f, r, ref)
	}
	program.AwaitProvenance(ctx, f, ref)
	d, err := r.Describe(ctx, ref)
	if err != nil {
		return err
	}
	hideSecretEnv(f, d)
	switch {
	case o.diff:
		return printDiff(ctx, f, r, ref, d)
	case o.json:
		return f.PrintMaskedJSON(newDescriptionObject(d, importOf(r, ref)))
	case o.full:
		return printDescription(f, d)
	}
	page, err := newDescribePage(ctx, f, r, ref, d)
	if err != nil {
		return err
	}
	return f.Print(page.text())
}

// manifests is a backend.ManifestLister.
type manifests []any

// Manifests implements backend.ManifestLister.
func (m manifests) Manifests() []any { return m }

// printManifests prints the objects of an app, each as a YAML document.
func printManifests(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref,
) error {
	can, err := r.Backends.Capabilities(ref.Backend)
	if err != nil {
		return err
	}
	if can.Manifests == nil {
		return backend.Errorf(backend.ErrUnsupported, "--yaml prints objects of Kubernetes, and %s has none: use --full", ref.Handle())
	}
	objects, err := can.Manifests.Manifests(ctx, ref.ID)
	if err != nil {
		return fmt.Errorf("read the objects of app %s: %w", ref.Handle(), err)
	}
	text, err := f.RequestYAML(manifests(objects))
	if err != nil {
		return err
	}
	return f.Print(text)
}

// statusTimeout bounds the wait for the state of a described app: its cluster may be away.
const statusTimeout = 5 * time.Second

// newDescribePage collects what the page shows beside the description. What cannot be read is
// left out.
func newDescribePage(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, d *history.View,
) (*describePage, error) {
	masked, err := f.MaskedJSON(d.Spec)
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
	p.imported = importOf(r, ref)
	if r.IsSweep(ref) {
		if p.sweep, _, err = r.SweepOf(ctx, ref); err != nil {
			p.sweep = nil // it was deleted
		}
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	if p.status, err = r.Status(ctx, ref); err != nil {
		f.Warn("the state of %s is not known: %v", ref.Handle(), err)
	}
	return p, nil
}

// printDiff prints the stored diff, unchanged if it goes to a file or a program.
func printDiff(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, d *history.View,
) error {
	if !d.Recorded {
		return fmt.Errorf("the git checkout of %s is not known: this history does not have the app", ref.Handle())
	}
	diff, err := program.SourceDiff(ctx, r, &d.App)
	if err != nil {
		return err
	}
	text := string(diff)
	if ui.IsTerminal(f.Out) {
		text = f.PaintDiff(ui.Clean(text, true))
	}
	return f.Print(text)
}

// printDescription prints everything that was submitted, as YAML.
func printDescription(f *program.Factory, d *history.View) error {
	var b strings.Builder
	head := struct {
		Handle    string        `json:"handle"`
		Component ui.NullString `json:"component"`
		Args      []string      `json:"args"`
		After     []string      `json:"after,omitempty"`
		Partial   bool          `json:"partial,omitempty"`
	}{d.Handle(), ui.NullString(d.Component), d.Args, d.After(), d.Partial}
	parts := []struct {
		title string
		value any
	}{{"", head}, {"APPLICATION", d.Spec}, {"OPTIONS", d.Cfg}}
	if d.Recorded {
		if o := program.ProvenanceOf(&d.Source, d.Checkout); o != nil {
			parts = append(parts, struct {
				title string
				value any
			}{"PROVENANCE", o})
		}
	}
	for _, part := range parts {
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

package app

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

// NewDescribe returns the command `describe`.
func NewDescribe(f *program.Factory) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:      "describe",
		Usage:     "show what was submitted",
		UsageText: "HANDLE [--json]\ntorchx describe -",
		Description: "Show the component, the arguments, the options and the app as it was submitted. " + program.SecretsHelp +
			" With it the app of --json can be run again. " + program.HandleHelp,
		Flags: []cli.Flag{program.JSONFlag(&asJSON)},
		Action: forApp(f, func(ctx context.Context, r *runner.Runner, ref runner.Ref) error {
			d, err := r.Describe(ctx, ref)
			if err != nil {
				return err
			}
			if asJSON {
				return f.PrintMaskedJSON(newDescriptionObject(ref, d))
			}
			return printDescription(f, d)
		}),
	}
}

// descriptionObject is `describe --json`, which `submit` reads; unknown values are null.
type descriptionObject struct {
	Handle      string          `json:"handle"`
	AppID       string          `json:"app_id"`
	Name        ui.NullString   `json:"name"`
	SubmittedAt *time.Time      `json:"submitted_at"`
	App         json.RawMessage `json:"app"`
	Cfg         json.RawMessage `json:"cfg"`
	Component   *string         `json:"component"`
	Args        []string        `json:"args"`
	Partial     bool            `json:"partial"`
}

func newDescriptionObject(ref runner.Ref, d *runner.Description) descriptionObject {
	o := descriptionObject{
		Handle: d.Handle, AppID: ref.ID, Name: ui.NullString(d.Name), SubmittedAt: ui.UTC(d.SubmittedAt),
		App: d.App, Cfg: d.Cfg, Component: d.Component, Args: d.Args, Partial: d.Partial,
	}
	if o.Component != nil && o.Args == nil {
		o.Args = []string{}
	}
	return o
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

package component

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/starlark/component"
)

func newShow(f *program.Factory) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:  "show",
		Usage: "show a component: signature, arguments, documentation, source",
		UsageText: "[--json] COMPONENT\n" +
			"torchx component show dist.ddp\n" +
			"torchx component new train\n" +
			"torchx component show components/train.star:train",
		Description: "Show where a component is defined, its signature, its arguments with their documentation, and its source. A component " +
			"of a library is @LIBRARY//FILE.star:FUNCTION.",
		Flags: []cli.Flag{program.JSONFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			name, err := program.OneArgument(c, "COMPONENT")
			if err != nil {
				return err
			}
			return runShow(c.Context, f, name, asJSON)
		},
	}
}

// shownComponent is the output of `component show --json`.
type shownComponent struct {
	Name      string       `json:"name"`
	File      string       `json:"file"`
	Line      int          `json:"line"`
	Signature string       `json:"signature"`
	Doc       string       `json:"doc"`
	Params    []shownParam `json:"params"`
	Source    string       `json:"source"`
}

type shownParam struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Optional bool     `json:"optional"` // None is a value
	Required bool     `json:"required"`
	Variadic bool     `json:"variadic"`
	Default  *string  `json:"default"` // as typed
	Help     string   `json:"help"`
	Choices  []string `json:"choices"`
}

func runShow(ctx context.Context, f *program.Factory, name string, asJSON bool) error {
	loader, err := f.Loader()
	if err != nil {
		return err
	}
	found, err := loader.Find(ctx, name)
	if err != nil {
		return err
	}
	d := found.Detail()
	if asJSON {
		return f.PrintJSON(newShownComponent(found, d))
	}
	position := f.ShortPath(found.File)
	if d.Line > 0 {
		position += fmt.Sprintf(":%d", d.Line)
	}
	s := f.OutStyle
	return f.Printf("%s  %s\n\n%s\n\n%s\n%s\n%s", s.Paint(ui.AnsiBold, ui.OneLine(found.Name)), s.Paint(ui.AnsiDim, ui.OneLine(position)),
		wrappedSignature(found, d), ui.CleanStyled(found.Help(s.Color, ui.TerminalWidth(f.Out), nil)), s.Paint(ui.AnsiBold, "Source:"), ui.Clean(program.Indent(d.Source), true))
}

func newShownComponent(c *component.Component, d component.Detail) shownComponent {
	out := shownComponent{
		Name: c.Name, File: c.File, Line: d.Line, Signature: signature(c, d), Doc: c.Doc, Params: []shownParam{}, Source: d.Source,
	}
	for i := range c.Params {
		p := &c.Params[i]
		s := shownParam{
			Name: p.Name, Type: p.Type.String(), Optional: p.Type.Optional, Required: p.Required, Variadic: p.Variadic, Help: p.Help,
			Choices: append([]string{}, p.Type.Choices...),
		}
		if !p.Required && !p.Variadic {
			s.Default = &p.Default
		}
		out.Params = append(out.Params, s)
	}
	return out
}

// signature returns the declaration of a component, with types, on one line.
func signature(c *component.Component, d component.Detail) string {
	return functionName(c) + "(" + strings.Join(typedParams(c, d), ", ") + ")"
}

// wrappedSignature returns the signature, on several lines if it is too long for one.
func wrappedSignature(c *component.Component, d component.Detail) string {
	if line := signature(c, d); len(line) <= 78 {
		return line
	}
	return functionName(c) + "(\n    " + strings.Join(typedParams(c, d), ",\n    ") + ",\n)"
}

func functionName(c *component.Component) string {
	return c.Name[strings.LastIndexAny(c.Name, ".:")+1:]
}

// typedParams returns each parameter with its type and default, *args first.
func typedParams(c *component.Component, d component.Detail) []string {
	var first, rest []string
	for i := range c.Params {
		p := &c.Params[i]
		text := p.Name + ": " + p.Type.String()
		switch {
		case p.Variadic:
			first = append(first, "*"+text)
			continue
		case !p.Required:
			value := d.Defaults[p.Name]
			if value == "" {
				value = p.Default
			}
			text += " = " + ui.OneLine(value)
		}
		rest = append(rest, text)
	}
	return append(first, rest...)
}

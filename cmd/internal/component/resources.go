package component

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
	"torchx/starlark/specmodule"
)

func newResources(f *program.Factory) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:      "resources",
		Usage:     "list the named resources that components can request",
		UsageText: "[--json]\ntorchx component resources",
		Description: "List the names that `-h NAME`, specs.resource(h = …) and specs.named_resources accept: first those of the project, " +
			"from sections [resource:NAME] of .torchxconfig with cpu, memMB and optionally gpu, capabilities, devices and tags " +
			"(K=V,…); then the built-in ones that they do not hide.",
		Flags: []cli.Flag{program.JSONFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			if err := program.NoArguments(c); err != nil {
				return err
			}
			return runResources(f, asJSON)
		},
	}
}

// listedResource is an element of `component resources --json`.
type listedResource struct {
	Name     string        `json:"name"`
	Origin   string        `json:"origin"` // FILE:LINE, or "built-in"
	Resource spec.Resource `json:"resource"`
}

func runResources(f *program.Factory, asJSON bool) error {
	list, err := f.ProjectResources()
	if err != nil {
		return err
	}
	all := []listedResource{}
	seen := map[string]bool{}
	for _, r := range list {
		seen[r.Name] = true
		all = append(all, listedResource{r.Name, r.Origin, r.Resource})
	}
	for _, r := range specmodule.NamedResources() {
		if !seen[r.Name] {
			all = append(all, listedResource{r.Name, "built-in", r.Resource})
		}
	}
	if asJSON {
		return f.PrintJSON(all)
	}
	tab := ui.Table{Header: []string{"RESOURCE", "CPU", "GPU", "MEMORY", "DEVICES", "FROM"}}
	for i := range all {
		r := &all[i]
		tab.Add(ui.NewCell(r.Name, ""), ui.NewCell(amount(r.Resource.CPU), ""), ui.NewCell(amount(float64(r.Resource.GPU)), ""), ui.NewCell(memoryText(r.Resource.MemMB), ""),
			ui.NewCell(devicesText(r.Resource.Devices), ""), ui.NewCell(f.ShortPath(r.Origin), ui.AnsiDim))
	}
	return f.PrintTable(&tab, func(width int) { tab.Fit(width, "DEVICES") })
}

// amount formats a number; a negative number is unspecified.
func amount(n float64) string {
	if n < 0 {
		return "-"
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

func memoryText(mb int) string {
	if mb < 0 {
		return "-"
	}
	return strconv.Itoa(mb) + " MB"
}

// devicesText lists devices by the part of their name after the last slash.
func devicesText(devices spec.Map[int]) string {
	var parts []string
	for _, d := range devices {
		parts = append(parts, strconv.Itoa(d.Value)+" "+d.Key[strings.LastIndexByte(d.Key, '/')+1:])
	}
	return cmp.Or(strings.Join(parts, ", "), "-")
}

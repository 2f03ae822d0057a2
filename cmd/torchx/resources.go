package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/runtime/config"
	"torchx/runtime/spec"
	"torchx/starlark/specmodule"
)

// projectResources are the named resources of .torchxconfig files: those that count
// for every command, and those of the project's root, which count in all its folders.
func (t *tool) projectResources() ([]config.Resource, error) {
	conf, err := t.config()
	if err != nil {
		return nil, err
	}
	all, err := conf.Resources()
	root := t.projectRoot()
	if err != nil || root == t.env.dir {
		return all, err
	}
	more, err := resourcesIn(root, t.env.lookup)
	for _, r := range more {
		if !slices.ContainsFunc(all, func(x config.Resource) bool { return x.Name == r.Name }) {
			all = append(all, r)
		}
	}
	return all, err
}

// resources are the project's as components see them.
func (t *tool) resources() ([]specmodule.NamedResource, error) {
	list, err := t.projectResources()
	return named(list), err
}

// rootResources are those that tests see: the project's own, and nothing of the user's.
func (t *tool) rootResources() ([]specmodule.NamedResource, error) {
	nothing := func(string) (string, bool) { return "", false }
	list, err := resourcesIn(t.projectRoot(), nothing)
	return named(list), err
}

// resourceNamesOf are the names that the project with a root adds, for an editor: those
// of a file that cannot be read are missing.
func (t *tool) resourceNamesOf(root string) []string {
	list, err := resourcesIn(root, t.env.lookup)
	if err != nil {
		return nil
	}
	var names []string
	for _, r := range list {
		names = append(names, r.Name)
	}
	return names
}

// resourcesIn are those that count in a folder.
func resourcesIn(dir string, env func(string) (string, bool)) ([]config.Resource, error) {
	conf, err := config.Load(config.Options{LookupEnv: env, Cwd: dir})
	if err != nil {
		return nil, err
	}
	return conf.Resources()
}

func named(list []config.Resource) []specmodule.NamedResource {
	var out []specmodule.NamedResource
	for _, r := range list {
		out = append(out, specmodule.NamedResource{Name: r.Name, Resource: r.Resource})
	}
	return out
}

func (t *tool) componentResourcesCommand() *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:      "resources",
		Usage:     "list the named resources that components can ask for",
		UsageText: "[--json]\ntorchx component resources",
		Description: "List the names that arguments such as `-h NAME`, specs.resource(h = …) and specs.named_resources take: first those of the " +
			"project, from sections [resource:NAME] of .torchxconfig with cpu, memMB and, if there are any, gpu, capabilities, devices and tags " +
			"(K=V,…); then the built-in ones that they do not hide.",
		Flags: []cli.Flag{jsonFlag(&asJSON)},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return t.listResources(asJSON)
		},
	}
}

// listedResource is an element of `component resources --json`.
type listedResource struct {
	Name     string        `json:"name"`
	Origin   string        `json:"origin"` // FILE:LINE, or "built-in"
	Resource spec.Resource `json:"resource"`
}

func (t *tool) listResources(asJSON bool) error {
	list, err := t.projectResources()
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
		return t.printJSON(all)
	}
	tab := table{header: []string{"RESOURCE", "CPU", "GPU", "MEMORY", "DEVICES", "FROM"}}
	for i := range all {
		r := &all[i]
		tab.add(cell{r.Name, ""}, cell{amount(r.Resource.CPU), ""}, cell{amount(float64(r.Resource.GPU)), ""}, cell{memoryText(r.Resource.MemMB), ""},
			cell{devicesText(r.Resource.Devices), ""}, cell{t.shortPath(r.Origin), ansiDim})
	}
	if width := screenWidth(t.out); width > 0 {
		tab.fit(width, "DEVICES")
	}
	return tab.write(t.out, t.outStyle)
}

// amount writes a number that says nothing when it is negative.
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

// devicesText names devices without what comes before their last slash.
func devicesText(devices spec.Map[int]) string {
	var parts []string
	for _, d := range devices {
		parts = append(parts, strconv.Itoa(d.Value)+" "+d.Key[strings.LastIndexByte(d.Key, '/')+1:])
	}
	return cmp.Or(strings.Join(parts, ", "), "-")
}

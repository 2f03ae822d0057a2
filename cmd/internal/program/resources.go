package program

import (
	"torchx/runtime/config"
	"torchx/starlark/specmodule"
)

// ProjectResources returns the named resources of the .torchxconfig files and of the
// project's root, which apply in all folders of the project.
func (f *Factory) ProjectResources() ([]config.Resource, error) {
	conf, err := f.Config()
	if err != nil {
		return nil, err
	}
	root := f.ProjectRoot()
	if root == f.Env.Dir {
		return conf.Resources()
	}
	return conf.ProjectResources(root, f.Env.Lookup)
}

// RootResources returns the named resources that tests see: those of the project, without
// the user's.
func (f *Factory) RootResources() ([]specmodule.NamedResource, error) {
	noEnv := func(string) (string, bool) { return "", false }
	list, err := config.ResourcesIn(f.ProjectRoot(), noEnv)
	return namedResources(list), err
}

// ResourceNamesOf returns the names of resources of the project at root, for an editor; none
// if a file cannot be read.
func (f *Factory) ResourceNamesOf(root string) []string {
	list, err := config.ResourcesIn(root, f.Env.Lookup)
	if err != nil {
		return nil
	}
	var names []string
	for _, r := range list {
		names = append(names, r.Name)
	}
	return names
}

func namedResources(list []config.Resource) []specmodule.NamedResource {
	var out []specmodule.NamedResource
	for _, r := range list {
		out = append(out, specmodule.NamedResource{Name: r.Name, Resource: r.Resource})
	}
	return out
}

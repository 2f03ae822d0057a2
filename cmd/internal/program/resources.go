package program

import (
	"slices"

	"torchx/runtime/config"
	"torchx/starlark/specmodule"
)

// ProjectResources are the named resources of .torchxconfig files: those that count
// for every command, and those of the project's root, which count in all its folders.
func (f *Factory) ProjectResources() ([]config.Resource, error) {
	conf, err := f.Config()
	if err != nil {
		return nil, err
	}
	all, err := conf.Resources()
	root := f.ProjectRoot()
	if err != nil || root == f.Env.Dir {
		return all, err
	}
	more, err := resourcesIn(root, f.Env.Lookup)
	for _, r := range more {
		if !slices.ContainsFunc(all, func(x config.Resource) bool { return x.Name == r.Name }) {
			all = append(all, r)
		}
	}
	return all, err
}

// resources are the project's as components see them.
func (f *Factory) resources() ([]specmodule.NamedResource, error) {
	list, err := f.ProjectResources()
	return named(list), err
}

// RootResources are those that tests see: the project's own, and nothing of the user's.
func (f *Factory) RootResources() ([]specmodule.NamedResource, error) {
	nothing := func(string) (string, bool) { return "", false }
	list, err := resourcesIn(f.ProjectRoot(), nothing)
	return named(list), err
}

// ResourceNamesOf are the names that the project with a root adds, for an editor: those
// of a file that cannot be read are missing.
func (f *Factory) ResourceNamesOf(root string) []string {
	list, err := resourcesIn(root, f.Env.Lookup)
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

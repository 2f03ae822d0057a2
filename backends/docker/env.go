package docker

import (
	"os"
	"path"
	"slices"
	"strings"

	"torchx/runtime/spec"
)

// imageVariable tells a container its image, as in TorchX.
const imageVariable = "TORCHX_IMAGE"

// environment is what a container gets: copied variables, those of the options,
// the role's own, and what is forced; a later one takes the place of an earlier one.
func (o options) environment(parent []string, role *spec.Role, rank0, image string) []string {
	env := copied(o.copyEnv, parent)
	keys := make([]string, 0, len(o.env))
	for k := range o.env {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		env.Set(k, o.env[k])
	}
	for _, e := range role.Env {
		env.Set(e.Key, e.Value)
	}
	env.Set(spec.Rank0HostVariable, rank0)
	env.Set(imageVariable, image)
	list := make([]string, len(env))
	for i, e := range env {
		list[i] = e.Key + "=" + e.Value
	}
	return list
}

// copied are the variables that match, pattern by pattern, each in the order of
// the environment.
func copied(patterns, parent []string) spec.Map[string] {
	env := spec.Map[string]{}
	if parent == nil {
		parent = os.Environ()
	}
	for _, pattern := range patterns {
		for _, e := range parent {
			name, value, _ := strings.Cut(e, "=")
			// A name has no slash that would matter to Match: its patterns are the shell's.
			if ok, err := path.Match(pattern, name); ok && err == nil && name != "" {
				env.Set(name, value)
			}
		}
	}
	return env
}

package workspace

import (
	"fmt"
	"strings"

	"torchx/runtime/spec"
)

// Projects returns the folders of a role's workspace and makes their paths absolute in
// the role; relative ones start at cwd.
func Projects(role *spec.Role, cwd string) (projects []Project, err error) {
	if role.Workspace == nil {
		return nil, nil
	}
	for n, e := range role.Workspace.Projects {
		dir, err := Absolute(e.Key, cwd)
		if err != nil {
			return nil, fmt.Errorf("workspace %q of role %s: %w", e.Key, role.Name, err)
		}
		role.Workspace.Projects[n].Key = dir
		projects = append(projects, Project{Path: dir, Into: e.Value})
	}
	return projects, nil
}

// Warnings returns a line about files that an image cannot hold, if there are any.
func (t *Tree) Warnings() []string {
	if len(t.Skipped) == 0 {
		return nil
	}
	return []string{"an image cannot hold sockets, pipes and devices: without " + strings.Join(t.Skipped, ", ")}
}

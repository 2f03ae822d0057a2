package workspace

import (
	"fmt"
	"strings"

	"torchx/runtime/spec"
)

// Projects returns the folders of a role's workspace and makes their paths absolute in the
// role. Relative ones start at cwd.
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

// Warnings returns a line about skipped files, if there are any.
func (t *Tree) Warnings() []string {
	if len(t.Skipped) == 0 {
		return nil
	}
	return []string{"images cannot contain sockets, pipes and devices: skipped " + strings.Join(t.Skipped, ", ")}
}

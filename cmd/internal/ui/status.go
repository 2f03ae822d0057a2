package ui

import (
	"slices"

	"torchx/runtime/spec"
)

// FilterRoles leaves only the named roles in a status.
func FilterRoles(s *spec.Status, names []string) {
	s.Roles = slices.DeleteFunc(s.Roles, func(r spec.RoleStatus) bool { return !slices.Contains(names, r.Role) })
}

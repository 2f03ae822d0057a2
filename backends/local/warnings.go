package local

import (
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// unsupported returns one warning about settings of an app that have no effect in this
// backend.
func unsupported(in backend.PlanInput, o options) []string {
	var all []string
	seen := map[string]bool{}
	for i := range in.App.Roles {
		for _, what := range unsupportedFields(&in.App.Roles[i], in.DefaultImage, o) {
			if !seen[what] {
				seen[what] = true
				all = append(all, what)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return []string{"the local backend runs plain processes and ignores: " + strings.Join(all, ", ")}
}

func unsupportedFields(role *spec.Role, defaultImage string, o options) (what []string) {
	chosen := role.Image != "" && role.Image != defaultImage && role.Image != spec.None &&
		role.Image != spec.Missing
	if o.imageType == imageCwd && chosen {
		what = append(what, "image "+role.Image)
	}
	if len(role.Mounts) > 0 {
		what = append(what, "mounts")
	}
	if role.Resource.OtherCapabilities() {
		what = append(what, "capabilities")
	}
	if len(role.Resource.Devices) > 0 {
		what = append(what, "devices")
	}
	if role.Workspace != nil && len(role.Workspace.Projects) > 0 {
		what = append(what, "workspace")
	}
	return what
}

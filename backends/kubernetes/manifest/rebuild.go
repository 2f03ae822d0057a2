package manifest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// pods of one template, as they are on the cluster.
type Group struct {
	Name     string // of the task or job
	Count    int
	Template *corev1.PodTemplateSpec
}

// rebuild makes an app of what its templates tell: roles by their labels, or each
// template a role where there are none.
func Rebuild(name string, groups []Group) *spec.App {
	app := &spec.App{Name: name, Roles: []spec.Role{}, Metadata: map[string]any{}}
	at := map[string]int{}
	index := map[string]int{}
	for _, g := range groups {
		role := g.Template.Labels[label.Role]
		if role == "" {
			role = g.Name
		}
		if n, ok := at[role]; ok {
			app.Roles[n].NumReplicas += g.Count
			continue
		}
		at[role] = len(app.Roles)
		index[role], _ = strconv.Atoi(g.Template.Labels[label.RoleIndex])
		app.Roles = append(app.Roles, roleOf(role, g))
		if n := g.Template.Labels[label.AppName]; n != "" {
			app.Name = n
		}
	}
	slices.SortStableFunc(app.Roles, func(a, b spec.Role) int { return cmp.Compare(index[a.Name], index[b.Name]) })
	return app
}

// roleOf reads a role from the first container of a template.
func roleOf(name string, g Group) spec.Role {
	role := spec.NewRole(name, spec.None)
	role.NumReplicas = g.Count
	if len(g.Template.Spec.Containers) == 0 {
		return role
	}
	c := &g.Template.Spec.Containers[0]
	role.Image = c.Image
	if command := append(slices.Clone(c.Command), c.Args...); len(command) > 0 {
		role.Entrypoint = unescape(command[0])
		for _, arg := range command[1:] {
			role.Args = append(role.Args, unescape(arg))
		}
	}
	for _, e := range c.Env {
		switch {
		case e.Name == indexVariable:
		case e.ValueFrom == nil:
			role.Env.Set(e.Name, unescape(e.Value))
		case e.ValueFrom.FieldRef != nil:
			role.Env.Set(e.Name, fieldPath+e.ValueFrom.FieldRef.FieldPath)
		}
	}
	for _, p := range c.Ports {
		if p.Name != "" {
			role.PortMap.Set(p.Name, int(p.ContainerPort))
		}
	}
	role.Resource = resourceOf(c.Resources.Limits)
	return role
}

func resourceOf(limits corev1.ResourceList) (r spec.Resource) {
	const mega = 1e6
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		quantity := limits[name]
		switch name {
		case corev1.ResourceCPU:
			r.CPU = float64(quantity.MilliValue()) / 1000
		case corev1.ResourceMemory:
			r.MemMB = int(quantity.Value() / mega)
		case resourceGPU:
			r.GPU = int(quantity.Value())
		default:
			r.Devices.Set(string(name), int(quantity.Value()))
		}
	}
	return r
}

// unescape is literal backwards; macros make the same text of it.
func unescape(text string) string {
	text = strings.NewReplacer("$$", "$", "$("+indexVariable+")", index).Replace(text)
	return strings.NewReplacer("$$", "$$$$", index, "${replica_id}").Replace(text)
}

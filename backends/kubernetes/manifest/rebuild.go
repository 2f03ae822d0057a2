package manifest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// Rebuild returns an app as its pod templates describe it: roles by their labels, or
// each template a role if it has none.
func Rebuild(name string, pods []PodSet) *spec.App {
	app := &spec.App{Name: name, Roles: []spec.Role{}, Metadata: map[string]any{}}
	position, index := map[string]int{}, map[string]int{}
	for _, p := range pods {
		role := cmp.Or(p.Labels[label.Role], p.Name)
		if n, ok := position[role]; ok {
			app.Roles[n].NumReplicas += p.Replicas
			continue
		}
		position[role] = len(app.Roles)
		index[role], _ = strconv.Atoi(p.Labels[label.RoleIndex])
		app.Roles = append(app.Roles, p.role(role))
		app.Name = cmp.Or(p.Labels[label.AppName], app.Name)
	}
	slices.SortStableFunc(app.Roles, func(a, b spec.Role) int { return cmp.Compare(index[a.Name], index[b.Name]) })
	return app
}

// role reads a role from the first container of a template.
func (p PodSet) role(name string) spec.Role {
	role := spec.NewRole(name, spec.None)
	role.NumReplicas = p.Replicas
	if len(p.Spec.Containers) == 0 {
		return role
	}
	c := &p.Spec.Containers[0]
	role.Image = c.Image
	if command := slices.Concat(c.Command, c.Args); len(command) > 0 {
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

// resourceOf returns the resource that limits were made from.
func resourceOf(limits corev1.ResourceList) (r spec.Resource) {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		quantity := limits[name]
		switch name {
		case corev1.ResourceCPU:
			r.CPU = float64(quantity.MilliValue()) / 1000
		case corev1.ResourceMemory:
			r.MemMB = int(quantity.Value() / 1e6)
		case resourceGPU:
			r.GPU = int(quantity.Value())
		default:
			r.Devices.Set(string(name), int(quantity.Value()))
		}
	}
	return r
}

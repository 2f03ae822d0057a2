package manifest

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/overlay"
)

// The main container of role r is called r where replicas share a template, else r-0, r-1 and
// so on, as in TorchX. Overlays may use r, r-0 and torchx for it in every form.

// mainAlias is the name by which overlays change the main container of any role.
const mainAlias = "torchx"

// containersJoin is the operation by which an overlay changes containers by name.
var containersJoin = overlay.Join("containers", "name")

// named returns an overlay in which the main container has the name that it has in a unit.
func (b *builder) named(u unit, change map[string]any) map[string]any {
	pod, _ := change["spec"].(map[string]any)
	items, ok := pod[containersJoin].([]any)
	if !ok {
		return change
	}
	aliases := []any{b.names.roles[u.role], b.names.replica(u.role, 0), mainAlias}
	items = slices.Clone(items)
	for i := range items {
		if item, ok := items[i].(map[string]any); ok && slices.Contains(aliases, item["name"]) {
			item = maps.Clone(item)
			item["name"], items[i] = b.containerName(u), item
		}
	}
	change, pod = maps.Clone(change), maps.Clone(pod)
	change["spec"], pod[containersJoin] = pod, items
	return change
}

// ownVariable is the prefix of the variables that torchx sets.
const ownVariable = "TORCHX_"

// keepVariables restores the variables of torchx that an overlay removed from the main container
// by another list of variables: arguments refer to them.
func keepVariables(t *Template, main *corev1.Container) {
	i := slices.IndexFunc(t.Spec.Containers, func(c corev1.Container) bool { return c.Name == main.Name })
	if i < 0 {
		return
	}
	c := &t.Spec.Containers[i]
	var lost []corev1.EnvVar
	for _, e := range main.Env {
		isSet := slices.ContainsFunc(c.Env, func(o corev1.EnvVar) bool { return o.Name == e.Name })
		if !isSet && strings.HasPrefix(e.Name, ownVariable) {
			lost = append(lost, e)
		}
	}
	if len(lost) > 0 {
		c.Env = append(lost, c.Env...) // a reference is expanded only after its definition
	}
}

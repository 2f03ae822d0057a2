package manifest

import (
	"strconv"

	"torchx/backends/kubernetes/label"
)

// objectLabels are those of every object of an app.
func (b *builder) objectLabels() map[string]string {
	labels := map[string]string{}
	for k, v := range b.options.labels {
		labels[k] = v
	}
	labels[label.Version] = label.Value(b.Version)
	labels[label.AppName] = label.Value(b.in.App.Name)
	labels[label.Name] = label.Value(b.in.App.Name)
	labels[label.ManagedBy] = label.Manager
	labels[label.Instance] = b.names.app
	return labels
}

// podLabels are those of a replica's pods.
func (b *builder) podLabels(u unit) map[string]string {
	labels := b.objectLabels()
	labels[label.RoleIndex] = strconv.Itoa(u.role)
	labels[label.Role] = label.Value(b.in.App.Roles[u.role].Name)
	if !u.shared() {
		labels[label.Replica] = strconv.Itoa(u.replica)
	}
	return labels
}

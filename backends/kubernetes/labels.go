package kubernetes

import (
	"strconv"
	"strings"
)

// Labels by which objects and pods of an app are found; they are those of TorchX.
const (
	LabelVersion   = "torchx.pytorch.org/version"
	LabelAppName   = "torchx.pytorch.org/app-name"
	LabelRoleIndex = "torchx.pytorch.org/role-index" // from 0, decimal
	LabelRole      = "torchx.pytorch.org/role-name"
	LabelReplica   = "torchx.pytorch.org/replica-id" // from 0, decimal; not on a template of several replicas

	LabelName      = "app.kubernetes.io/name"       // the app's
	LabelManagedBy = "app.kubernetes.io/managed-by" // ManagedBy
	LabelInstance  = "app.kubernetes.io/instance"   // name of the main object

	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "torchx.pytorch.org"

	// labelKueue names the queue in which Kueue has a Job or JobSet wait.
	labelKueue = "kueue.x-k8s.io/queue-name"
	// annotationIndex holds the replica of a pod of an Indexed Job.
	annotationIndex = "batch.kubernetes.io/job-completion-index"
)

// objectLabels are those of every object of an app.
func (b *builder) objectLabels() map[string]string {
	labels := map[string]string{}
	for k, v := range b.options.labels {
		labels[k] = v
	}
	labels[LabelVersion] = labelValue(b.version)
	labels[LabelAppName] = labelValue(b.in.App.Name)
	labels[LabelName] = labelValue(b.in.App.Name)
	labels[LabelManagedBy] = ManagedBy
	labels[LabelInstance] = b.names.app
	return labels
}

// podLabels are those of a replica's pods.
func (b *builder) podLabels(u unit) map[string]string {
	labels := b.objectLabels()
	labels[LabelRoleIndex] = strconv.Itoa(u.role)
	labels[LabelRole] = labelValue(b.in.App.Roles[u.role].Name)
	if !u.shared() {
		labels[LabelReplica] = strconv.Itoa(u.replica)
	}
	return labels
}

// labelValue makes a valid value of a label: at most 63 letters, digits, '-', '_'
// and '.', with a letter or digit at both ends. What is longer gets a hash.
func labelValue(s string) string {
	clean := strings.Map(func(c rune) rune {
		if alphanumeric(c) || c == '-' || c == '_' || c == '.' {
			return c
		}
		return '.'
	}, s)
	clean = strings.TrimFunc(clean, func(c rune) bool { return !alphanumeric(c) })
	return shorten(clean, maxName, s)
}

func alphanumeric(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// instanceSelector finds the pods of an app.
func instanceSelector(app string) map[string]string {
	return map[string]string{LabelManagedBy: ManagedBy, LabelInstance: app}
}

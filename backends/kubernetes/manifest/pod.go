package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/overlay"
	"torchx/runtime/spec"
)

// imageVariable holds the container's image, as in TorchX.
const imageVariable = "TORCHX_IMAGE"

// fieldPath is the prefix of a variable's value that refers to a field of the pod, such as
// [FIELD_PATH]status.podIP, as in TorchX.
const fieldPath = "[FIELD_PATH]"

// template returns the pod template of a unit.
func (b *builder) template(u unit) (*Template, error) {
	given := &b.in.App.Roles[u.role]
	macros := b.macros(u)
	role := macros.Apply(*given)
	image := b.images.of[u.role]
	c := corev1.Container{
		Name: b.containerName(u), Image: image, ImagePullPolicy: corev1.PullPolicy(b.options.pullPolicy),
		Env: b.environment(u, &role, image), EnvFrom: b.options.envFrom, Resources: b.options.resources(role.Resource),
		SecurityContext: &corev1.SecurityContext{}, ReadinessProbe: b.readiness(given),
	}
	for _, word := range append([]string{role.Entrypoint}, role.Args...) {
		c.Command = append(c.Command, literal(word))
	}
	var err error
	if c.Ports, err = ports(&role); err != nil {
		return nil, err
	}
	t := &Template{
		// A proxy container would keep the pod running after the program has ended.
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"sidecar.istio.io/inject": "false"}},
		Spec:       b.podSpec(&role),
	}
	addMounts(&t.Spec, &c, role.Mounts)
	b.addOutput(&t.Spec, &c)
	t.Spec.Containers = []corev1.Container{c}
	t.Spec.ActiveDeadlineSeconds = b.deadlines(given).pod
	maps.Copy(t.Annotations, b.options.annotations)
	if t, err = b.overlaid(t, u, &role); err != nil {
		return nil, err
	}
	if t.Labels == nil {
		t.Labels = map[string]string{}
	}
	maps.Copy(t.Labels, b.podLabels(u))
	return t, nil
}

// podSpec returns the pod without its container and volumes.
func (b *builder) podSpec(role *spec.Role) corev1.PodSpec {
	o := b.options
	pod := corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, ServiceAccountName: o.serviceAccount,
		NodeSelector: o.selector(role.Resource), Tolerations: o.tolerations, HostNetwork: o.hostNetwork,
	}
	if o.hostNetwork {
		pod.DNSPolicy = corev1.DNSClusterFirstWithHostNet // otherwise names of other pods are not resolved
	}
	for _, name := range o.pullSecrets {
		pod.ImagePullSecrets = append(pod.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
	if b.form != FormVolcano {
		pod.PriorityClassName = o.priorityClass
	}
	if b.form == FormJob {
		pod.Subdomain = b.names.app // with the service, this gives pods their host names
	}
	return pod
}

// containerName returns role and replica, as in TorchX, or only the role in a shared template.
func (b *builder) containerName(u unit) string {
	if u.shared() {
		return b.names.roles[u.role]
	}
	return b.names.replica(u.role, u.replica)
}

// environment returns the container's variables in the order of TorchX; a later value
// overrides an earlier one.
func (b *builder) environment(u unit, role *spec.Role, image string) []corev1.EnvVar {
	env := role.Env
	if _, ok := env.Get(spec.JobIDVariable); ok {
		env.Set(spec.JobIDVariable, Handle(AppID(b.options.Namespace, b.names.app)))
	}
	if host := b.rank0Host(u); host != "" {
		env.Set(spec.Rank0HostVariable, host)
	}
	env.Set(imageVariable, image)
	list := make([]corev1.EnvVar, 0, len(env)+1)
	if u.shared() {
		// A reference is expanded only after its definition.
		list = append(list, fromField(indexVariable, "metadata.annotations['"+indexAnnotation(b.form)+"']"))
	}
	for _, e := range env {
		if path, ok := strings.CutPrefix(e.Value, fieldPath); ok {
			list = append(list, fromField(e.Key, path))
			continue
		}
		if u.shared() && e.Key == indexVariable {
			continue
		}
		list = append(list, corev1.EnvVar{Name: e.Key, Value: literal(e.Value)})
	}
	return list
}

// indexAnnotation returns the annotation in which the form's controller stores a pod's index.
func indexAnnotation(f Form) string {
	if f == FormVolcano {
		return kube.AnnotationVolcanoIndex
	}
	return kube.AnnotationCompletionIndex
}

func fromField(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

// rank0Env returns the name of the variable that holds rank 0's host. For a task of one
// replica Volcano sets a variable to its host; on rank 0 itself it is torchx's variable, as in
// TorchX.
func (b *builder) rank0Env(u unit) string {
	if b.form != FormVolcano || isRank0(u) || b.first == b.names.roles[0] {
		return spec.Rank0HostVariable
	}
	task := strings.ReplaceAll(b.names.replica(0, 0), "-", "_")
	return "VC_" + strings.ToUpper(task) + "_HOSTS"
}

// isRank0 reports whether the unit is only replica 0 of the first role.
func isRank0(u unit) bool { return u.role == 0 && u.replica == 0 && !u.shared() }

// rank0Host returns rank 0's host name for the unit's replicas, "" if Volcano sets it.
func (b *builder) rank0Host(u unit) string {
	if isRank0(u) {
		return "localhost"
	}
	switch {
	case b.crowded:
		return b.names.app
	case b.form == FormJobSet: // <JobSet>-<replicated job>-<its replica>-<index>
		return fmt.Sprintf("%s-%s-0-0.%s", b.names.app, b.first, b.names.app)
	case b.form == FormJob || b.rank0Env(u) == spec.Rank0HostVariable: // <Job>-<index>, <Volcano Job>-<task>-<index>
		return fmt.Sprintf("%s-%s-0.%s", b.names.app, b.first, b.names.app)
	}
	return ""
}

// ports returns the ports of port_map.
func ports(role *spec.Role) ([]corev1.ContainerPort, error) {
	var list []corev1.ContainerPort
	taken := map[string]bool{}
	for _, p := range role.PortMap {
		if p.Value < 1 || p.Value > 65535 {
			return nil, fmt.Errorf("port %s of role %s is %d: a port is a number from 1 to 65535",
				p.Key, role.Name, p.Value)
		}
		list = append(list, corev1.ContainerPort{Name: portName(p.Key, taken), ContainerPort: int32(p.Value)})
	}
	return list, nil
}

// The main container of role r is called r where replicas share a template, else r-0, r-1 and
// so on, as in TorchX. Overlays may use r, r-0 and torchx for it in every form.

// mainAlias is the name by which overlays change the main container of any role.
const mainAlias = "torchx"

// named returns an overlay in which the main container has the name that it has in a unit.
func (b *builder) named(u unit, change map[string]any) map[string]any {
	pod, _ := change["spec"].(map[string]any)
	join := overlay.Join("containers", "name") // changes containers by name
	items, ok := pod[join].([]any)
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
	change["spec"], pod[join] = pod, items
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

// AddTerminal runs the main container on a terminal that clients can attach to.
func (r *Request) AddTerminal() {
	for _, t := range r.PodSets() {
		if len(t.Spec.Containers) > 0 {
			c := &t.Spec.Containers[0]
			c.Stdin, c.TTY = true, true
		}
	}
}

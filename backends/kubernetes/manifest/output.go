package manifest

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"torchx/backends/hostaccess"
	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// outputVolume is the name of the volume of outputs in pods.
const outputVolume = "torchx-output"

const claimPrefix = "pvc:"

// Volume is a folder in a persistent volume claim. The zero value is none.
type Volume struct{ Claim, Folder string }

// String returns the volume in the form of the option output.
func (v Volume) String() string { return claimPrefix + path.Join(v.Claim, v.Folder) }

// parseVolume reads pvc:CLAIM[/FOLDER].
func parseVolume(text string) (v Volume, err error) {
	bad := func(why string) (Volume, error) {
		return Volume{}, backend.Errorf(backend.ErrInvalidOption,
			"output=%s: %s (write pvc:CLAIM or pvc:CLAIM/FOLDER)", text, why)
	}
	rest, ok := strings.CutPrefix(text, claimPrefix)
	if !ok {
		return bad("only persistent volume claims can hold outputs")
	}
	v.Claim, v.Folder, _ = strings.Cut(rest, "/")
	if problems := validation.IsDNS1123Subdomain(v.Claim); len(problems) > 0 {
		return bad("the claim: " + problems[0])
	}
	if v.Folder = path.Clean(v.Folder); v.Folder == "." {
		v.Folder = ""
	} else if !filepath.IsLocal(v.Folder) || strings.ContainsAny(v.Folder, "\x00\n") {
		return bad("the folder is not inside the claim")
	}
	return v, nil
}

// addOutput mounts the app's folder in the volume of outputs and sets its variable. The
// kubelet creates the folder.
func (b *builder) addOutput(pod *corev1.PodSpec, c *corev1.Container) {
	v := b.options.output
	isOutput := func(e corev1.EnvVar) bool { return e.Name == spec.OutputVariable }
	if v.Claim == "" || slices.ContainsFunc(c.Env, isOutput) {
		return
	}
	claim := &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.Claim}
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: outputVolume, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: claim}})
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: outputVolume, MountPath: spec.OutputMount, SubPath: path.Join(v.Folder, b.names.app)})
	c.Env = append(c.Env, corev1.EnvVar{Name: spec.OutputVariable, Value: spec.OutputMount})
}

// adoptOutput gives a copy of an app its own folder.
func adoptOutput(c *corev1.Container, old, name string) {
	for i := range c.VolumeMounts {
		if m := &c.VolumeMounts[i]; m.Name == outputVolume && path.Base(m.SubPath) == old {
			m.SubPath = path.Join(path.Dir(m.SubPath), name)
		}
	}
}

// OutputOf returns the folder of an app's outputs that its pods mount.
func OutputOf(pods []PodSet) (v Volume, ok bool) {
	for _, p := range pods {
		i := slices.IndexFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == outputVolume && v.PersistentVolumeClaim != nil })
		if i < 0 {
			continue
		}
		for _, c := range p.Spec.Containers {
			for _, m := range c.VolumeMounts {
				if m.Name == outputVolume {
					return Volume{p.Spec.Volumes[i].PersistentVolumeClaim.ClaimName, m.SubPath}, true
				}
			}
		}
	}
	return v, false
}

// OutputOption returns the folder of an app's outputs by the options of its submission.
func OutputOption(cfg backend.Config, app string) (v Volume, ok bool) {
	text, _ := cfg["output"].(string)
	v, err := parseVolume(text)
	v.Folder = path.Join(v.Folder, app)
	return v, err == nil
}

// hostAccess returns a warning about pods that take their node, or nothing.
func hostAccess(app *spec.App, objects []Object) []string {
	var found hostaccess.Findings
	for _, o := range objects {
		for _, pod := range PodSets(o) {
			if i, err := strconv.Atoi(pod.Labels[kube.LabelRoleIndex]); err == nil && i >= 0 &&
				i < len(app.Roles) {
				addPod(&found, app.Roles[i].Name, &pod.Spec)
			}
		}
	}
	return found.Warnings()
}

// addPod records the settings of a pod that take its node.
func addPod(found *hostaccess.Findings, role string, pod *corev1.PodSpec) {
	found.AddIf(pod.HostPID, role, "hostPID")
	found.AddIf(pod.HostIPC, role, "hostIPC")
	found.AddIf(pod.HostNetwork, role, "hostNetwork")
	if s := pod.SecurityContext; s != nil && s.WindowsOptions != nil {
		found.AddIf(ptr.Deref(s.WindowsOptions.HostProcess, false), role, "hostProcess")
	}
	containers := slices.Concat(pod.InitContainers, pod.Containers)
	for _, c := range containers {
		if s := c.SecurityContext; s != nil {
			addContainer(found, role, s)
		}
	}
	for _, v := range pod.Volumes {
		if v.HostPath != nil {
			found.AddMount(role, v.HostPath.Path, !isWritable(containers, v.Name))
		}
	}
}

// addContainer records the settings of a container that take its node.
func addContainer(found *hostaccess.Findings, role string, s *corev1.SecurityContext) {
	found.AddIf(ptr.Deref(s.Privileged, false), role, "privileged")
	found.AddIf(ptr.Deref(s.AllowPrivilegeEscalation, false), role, "allowPrivilegeEscalation")
	found.AddIf(ptr.Deref(s.ProcMount, "") == corev1.UnmaskedProcMount, role, "procMount Unmasked")
	if s.Capabilities != nil {
		for _, c := range s.Capabilities.Add {
			found.AddCapabilities(role, []string{string(c)})
		}
	}
	if s.WindowsOptions != nil {
		found.AddIf(ptr.Deref(s.WindowsOptions.HostProcess, false), role, "hostProcess")
	}
}

// isWritable reports whether a container can write to a volume.
func isWritable(containers []corev1.Container, volume string) bool {
	return slices.ContainsFunc(containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume && !m.ReadOnly })
	})
}

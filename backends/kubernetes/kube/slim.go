package kube

import corev1 "k8s.io/api/core/v1"

// slim drops the fields of an object of a list or watch that torchx never reads: of 5,000 pods,
// they take most of the memory.
func slim(object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	pod.ManagedFields, pod.Finalizers = nil, nil
	pod.Status.PodIPs, pod.Status.HostIPs = nil, nil
	pod.OwnerReferences = nil
	pod.Spec.Volumes, pod.Spec.Tolerations = nil, nil
	pod.Spec.NodeSelector, pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints = nil, nil, nil
	pod.Spec.SecurityContext, pod.Spec.ImagePullSecrets = nil, nil
	killed := false
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			s := &list[i]
			s.AllocatedResources, s.AllocatedResourcesStatus, s.Resources, s.VolumeMounts = nil, nil, nil, nil
			killed = killed || outOfMemory(s.State) || outOfMemory(s.LastTerminationState)
		}
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			c := &list[i]
			c.Command, c.Args, c.Env, c.EnvFrom, c.VolumeMounts = nil, nil, nil, nil, nil
			c.Resources.Requests = nil
			if !killed { // otherwise the limit explains it
				c.Resources.Limits = nil
			}
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe, c.Lifecycle, c.SecurityContext = nil, nil, nil, nil, nil
		}
	}
}

// outOfMemory reports whether the kernel killed a container.
func outOfMemory(s corev1.ContainerState) bool {
	return s.Terminated != nil && s.Terminated.Reason == "OOMKilled"
}

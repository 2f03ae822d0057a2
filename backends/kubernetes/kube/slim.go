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
	pod.Spec.Volumes, pod.Spec.Tolerations = nil, nil
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			c := &list[i]
			c.Command, c.Args, c.Env, c.EnvFrom, c.VolumeMounts = nil, nil, nil, nil, nil
			c.Resources.Requests = nil // the limit explains why a container was out of memory
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe, c.Lifecycle, c.SecurityContext = nil, nil, nil, nil, nil
		}
	}
}

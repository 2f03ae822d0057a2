package manifest

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/spec"
)

// torchrun are words of commands that start torchelastic's own launcher.
var torchrun = []string{"torchrun", "torch.distributed.run", "torch.distributed.launch"}

// reportErrors has programs write their error file where the kubelet reads the
// termination message, which is the only file of a pod that outlives it. As with
// Docker it is no part of the plan. Whoever chose a file keeps it.
func (r *Request) AddErrorFiles() {
	for _, o := range r.Objects {
		for _, t := range Templates(o) {
			if len(t.Spec.Containers) > 0 {
				addErrorFile(&t.Spec.Containers[0])
			}
		}
	}
}

func addErrorFile(c *corev1.Container) {
	if slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == spec.ErrorFileVariable }) {
		return
	}
	if runsTorchrun(c) {
		// It removes the file before it writes it, which fails on a mount, and ends with
		// that error then. What failed first is at the end of its log.
		if c.TerminationMessagePolicy == "" {
			c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
		}
		return
	}
	path := c.TerminationMessagePath
	if path == "" {
		path = corev1.TerminationMessagePathDefault
	}
	c.Env = append(c.Env, corev1.EnvVar{Name: spec.ErrorFileVariable, Value: literal(path)})
}

func runsTorchrun(c *corev1.Container) bool {
	command := strings.Join(append(slices.Clone(c.Command), c.Args...), " ")
	return slices.ContainsFunc(torchrun, func(word string) bool { return strings.Contains(command, word) })
}

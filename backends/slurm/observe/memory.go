package observe

import (
	"slices"
	"strings"

	"torchx/backends/slurm/folder"
	"torchx/backends/slurm/job"
	"torchx/runtime/pattern"
	"torchx/runtime/spec"
)

// killed is the exit code of a replica that got SIGKILL.
const killed = 137

// memoryLine matches what slurmstepd says of a step that the kernel (oom_kill) or Slurm's own
// accounting (exceeded memory limit) ended; srun adds the host.
var memoryLine = pattern.Lazy(`(?m)^slurmstepd(?:-(\S+))?: error: .*(?:exceeded (?:job )?memory limit|oom[-_]kill|Out Of Memory)`)

// msgOutOfMemory is the message of a replica.
const msgOutOfMemory = "out of memory (ask for more memory in the role's resource)"

// ranOutOfMemory reports whether Slurm said so of the node of an attempt that was killed.
func (o *Observation) ranOutOfMemory(a *folder.Attempt) bool {
	if a.Exit.Code != killed || o.Messages == nil {
		return false
	}
	for _, m := range memoryLine().FindAllStringSubmatch(o.Messages(), -1) {
		if m[1] == a.Host || m[1] == "" {
			return true
		}
	}
	return false
}

// nodeLine matches what srun says of nodes that failed while it goes on without them.
var nodeLine = pattern.Lazy(`(?m)^srun: error: Node failure on (\S+)$`)

// beginMark is what the launcher prints first: Slurm may start a job again on the same nodes.
const beginMark = "torchx: job "

// Messages of replicas.
const (
	msgLost     = "lost with its node"
	msgRequeued = "ended when Slurm requeued the job"
	msgSignaled = "ended by SIGTERM from Slurm, which ends or requeues the job next"
)

// isLost reports whether the node of an attempt failed while others of its role go on.
func (o *Observation) isLost(r spec.Replica, a *folder.Attempt) bool {
	role := o.App.Role(r.Role)
	if role == nil || role.MinReplicas == nil || o.Messages == nil || a.Exit != nil &&
		a.Exit.Code != killed {
		return false
	}
	text := o.Messages()
	text = text[max(0, strings.LastIndex(text, beginMark)):]
	return slices.ContainsFunc(nodeLine().FindAllStringSubmatch(text, -1), func(m []string) bool {
		return slices.Contains(job.ExpandHosts(m[1]), a.Host)
	})
}

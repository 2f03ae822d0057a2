package observe

import (
	"regexp"

	"torchx/backends/slurm/folder"
)

// killed is the exit code of a replica that got SIGKILL.
const killed = 137

// memoryLine matches what slurmstepd says of a step that the kernel (oom_kill) or Slurm's own
// accounting (exceeded memory limit) ended; srun adds the host.
var memoryLine = regexp.MustCompile(`(?m)^slurmstepd(?:-(\S+))?: error: .*(?:exceeded (?:job )?memory limit|oom[-_]kill|Out Of Memory)`)

// msgOutOfMemory is the message of a replica.
const msgOutOfMemory = "out of memory (ask for more memory in the role's resource)"

// ranOutOfMemory reports whether Slurm said so of the node of an attempt that was killed.
func (o *Own) ranOutOfMemory(a *folder.Attempt) bool {
	if a.Exit.Code != killed || o.Messages == nil {
		return false
	}
	for _, m := range memoryLine.FindAllStringSubmatch(o.Messages(), -1) {
		if m[1] == a.Host || m[1] == "" {
			return true
		}
	}
	return false
}

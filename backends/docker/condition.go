//go:build unix

package docker

import (
	"strings"

	"github.com/docker/docker/api/types/container"

	"torchx/runtime/agent"
	"torchx/runtime/humanize"
)

// Conditions implements agent.ConditionReporter.
func (l *launcher) Conditions() <-chan agent.Condition { return l.conditions }

// report reports the condition of a container that runs, if it has changed. The caller holds
// r.checking.
func (l *launcher) report(r *run, c container.InspectResponse) {
	note, healthy := conditionOf(c)
	if r.condition.Note == note && r.condition.Healthy == healthy {
		return
	}
	r.condition = agent.Condition{Replica: r.replica, Attempt: r.attempt, Note: note, Healthy: healthy}
	select {
	case l.conditions <- r.condition:
	case <-l.ctx.Done():
	}
}

// conditionOf returns what is to know of a container besides that it runs, and whether the
// healthcheck of its image passes.
func conditionOf(c container.InspectResponse) (note string, healthy bool) {
	switch h := c.State.Health; {
	case c.State.Paused:
		return pausedNote(strings.TrimPrefix(c.Name, "/")), false
	case h == nil:
	case h.Status == container.Unhealthy && len(h.Log) > 0:
		output := strings.Join(strings.Fields(h.Log[len(h.Log)-1].Output), " ")
		return strings.TrimSuffix("unhealthy: "+humanize.Text(output), ": "), false
	default:
		return "", h.Status == container.Healthy
	}
	return "", false
}

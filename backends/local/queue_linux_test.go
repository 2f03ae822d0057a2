package local

import (
	"testing"
	"time"

	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

// TestQueuedAgentSleeps: a queued agent uses almost no CPU.
func TestQueuedAgentSleeps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.setMachine(1)
	f.waitForState(f.enqueue(1, "sleep 300"), spec.Running)
	front, back := f.enqueue(1, "true"), f.enqueue(1, "true")
	f.waitForState(front, spec.Pending, "queued: waits")
	f.waitForState(back, spec.Pending, "queued: needs")
	used := func() time.Duration {
		return procs.Trees([]int{f.agentPID(front)})[f.agentPID(front)].CPU + procs.Trees([]int{f.agentPID(back)})[f.agentPID(back)].CPU
	}
	before, start := used(), time.Now()
	f.run(nil, sh("r", 1, "sleep 3")) // does not queue, so its end frees nothing
	watched := time.Since(start)
	if after := used(); after-before > 2*watched/100 {
		t.Errorf("two queued agents: got %v of CPU in %v, want at most %v", after-before, watched, 2*watched/100)
	}
}

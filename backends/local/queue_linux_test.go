package local

import (
	"testing"
	"time"

	"torchx/runtime/procs"
	"torchx/runtime/spec"
)

// TestWaitingCostsNothing: an agent in the queue sleeps.
func TestWaitingCostsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.machineOf(1)
	f.state(f.enqueue(1, "sleep 300"), spec.Running)
	front, back := f.enqueue(1, "true"), f.enqueue(1, "true")
	f.state(front, spec.Pending, "queued: waits")
	f.state(back, spec.Pending, "queued: needs")
	used := func() time.Duration {
		return procs.Trees([]int{f.agentPID(front)})[f.agentPID(front)].CPU + procs.Trees([]int{f.agentPID(back)})[f.agentPID(back)].CPU
	}
	before, began := used(), time.Now()
	f.run(nil, sh("r", 1, "sleep 3")) // beside the queue; its end does not free what the others wait for
	watched := time.Since(began)      // of which they may work one part in a hundred
	if after := used(); after-before > 2*watched/100 {
		t.Errorf("two waiting agents: got %v of CPU in %v, want at most %v", after-before, watched, 2*watched/100)
	}
}

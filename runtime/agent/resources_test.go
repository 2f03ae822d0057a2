package agent

import (
	"strings"
	"testing"

	"torchx/runtime/machine"
	"torchx/runtime/spec"
)

func TestResourcesOf(t *testing.T) {
	t.Parallel()
	big, silent := spec.NewRole("a", spec.None), spec.NewRole("b", spec.None)
	big.NumReplicas, big.Resource = 3, spec.Resource{CPU: 1.5, GPU: 2, MemMB: 100}
	silent.NumReplicas = 7
	got := resourcesOf(&spec.App{Roles: []spec.Role{big, silent}})
	if want := (machine.Size{CPU: 4.5, MemMB: 300, GPU: 6}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestMissingResources(t *testing.T) {
	t.Parallel()
	total := machine.Size{CPU: 8, MemMB: 16 << 10, GPU: 4}
	used := machine.Size{CPU: 6, MemMB: 15 << 10, GPU: 5} // more GPUs than exist, used by apps that did not queue
	for _, c := range []struct {
		demand machine.Size
		want   string
	}{
		{machine.Size{}, ""},
		{machine.Size{CPU: 2, MemMB: 1 << 10}, ""},
		{machine.Size{CPU: 2.25}, "2.25 CPUs (2 of 8 free)"},
		{machine.Size{CPU: 4, MemMB: 1536, GPU: 1}, "4 CPUs (2 of 8 free), 1.5 GiB (1 GiB of 16 GiB free), 1 GPU (0 of 4 free)"},
	} {
		if got := strings.Join(missingResources(c.demand, used, total), ", "); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.demand, got, c.want)
		}
	}
	tenths := machine.Size{CPU: 0.1}
	sum := machine.Size{}
	for range 9 {
		sum = sum.Plus(tenths)
	}
	if got := missingResources(tenths, sum, machine.Size{CPU: 1}); got != nil {
		t.Errorf("ten tenths: got %v, want nothing missing", got)
	}
}

func TestCheckCapacity(t *testing.T) {
	t.Parallel()
	total := machine.Size{CPU: 2, MemMB: 2 << 10}
	if err := checkCapacity(total, total); err != nil {
		t.Error(err)
	}
	err := checkCapacity(machine.Size{CPU: 8, MemMB: 1024, GPU: 1}, total)
	if err == nil || !strings.Contains(err.Error(), "asks for 8 CPUs, 1 GPU, this machine has 2 CPUs, 0 GPUs:") {
		t.Error(err)
	}
}

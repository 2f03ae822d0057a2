package slurm

import (
	"slices"
	"testing"
)

// TestOwnDevices: GPUs are those of a task only if it is alone on its node.
func TestOwnDevices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		environ, want []string
	}{
		{[]string{"CUDA_VISIBLE_DEVICES=0,3", "SLURM_STEP_TASKS_PER_NODE=1(x4)"}, []string{"0", "3"}},
		{[]string{"CUDA_VISIBLE_DEVICES=0,3", "SLURM_STEP_TASKS_PER_NODE=1"}, []string{"0", "3"}},
		{[]string{"CUDA_VISIBLE_DEVICES=0,3", "SLURM_STEP_TASKS_PER_NODE=2(x4)"}, nil},
		{[]string{"CUDA_VISIBLE_DEVICES=", "SLURM_STEP_TASKS_PER_NODE=1"}, nil},
		{[]string{"CUDA_VISIBLE_DEVICES=0"}, nil},
	} {
		if got := ownDevices(c.environ); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.environ, got, c.want)
		}
	}
}

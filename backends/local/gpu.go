package local

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"torchx/runtime/spec"
)

// smiTimeout bounds the look at the GPUs: a hanging driver must not hang a plan.
const smiTimeout = 10 * time.Second

// assignGPUs hands the machine's GPUs out in order over roles and replicas, as
// TorchX does, and returns warnings.
func assignGPUs(ctx context.Context, app *spec.App, o options, req *Request) []string {
	wanted := 0
	for i := range app.Roles {
		wanted += max(app.Roles[i].Resource.GPU, 0) * app.Roles[i].NumReplicas
	}
	if wanted == 0 {
		return nil
	}
	if !o.autoCUDA {
		return []string{"the app asks for GPUs, but replicas see all of this machine's: use -cfg auto_set_cuda_visible_devices=true to hand them out"}
	}
	have, err := countGPUs(ctx)
	if err != nil {
		return []string{fmt.Sprintf("CUDA_VISIBLE_DEVICES is not set: %v", err)}
	}
	if have < wanted {
		return []string{fmt.Sprintf("CUDA_VISIBLE_DEVICES is not set: the app asks for %d GPUs, this machine has %d", wanted, have)}
	}
	next := 0
	for i := range app.Roles {
		gpus := max(app.Roles[i].Resource.GPU, 0)
		params, _ := req.RoleParams.Get(app.Roles[i].Name)
		for id := range params {
			if gpus > 0 {
				params[id].Env.Set(cudaVariable, deviceList(next, gpus))
				next += gpus
			}
		}
	}
	return nil
}

func deviceList(first, n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(first + i)
	}
	return strings.Join(ids, ",")
}

// countGPUs counts the lines of `nvidia-smi -L`, one for each device.
func countGPUs(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, smiTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "nvidia-smi", "-L").Output()
	if err != nil {
		return 0, fmt.Errorf("count GPUs: %w", err)
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		if strings.TrimSpace(line) != "" {
			n++
		}
	}
	return n, nil
}

package local

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"torchx/runtime/agent"
	"torchx/runtime/machine"
	"torchx/runtime/spec"
)

// requestedGPUs returns the number of GPUs that all replicas of an app request.
func requestedGPUs(app *spec.App) (n int) {
	for i := range app.Roles {
		n += max(app.Roles[i].Resource.GPU, 0) * app.Roles[i].NumReplicas
	}
	return n
}

// assignGPUs assigns the machine's GPUs in the order of roles and replicas, as TorchX
// does, and returns warnings. The numbers are those of an idle machine: the agent replaces
// them with free devices.
func (b *Backend) assignGPUs(ctx context.Context, app *spec.App, o options, req *Request) []string {
	requested := requestedGPUs(app)
	if requested == 0 {
		return nil
	}
	if !o.autoCUDA {
		return []string{"the app asks for GPUs, but every replica sees all GPUs of this machine: use -cfg auto_set_cuda_visible_devices=true to assign them"}
	}
	if missing := b.missingGPUs(ctx, requested); missing != "" {
		return []string{cudaVariable + " is not set: " + missing}
	}
	forEachGPURequest(app, o, req, func(_ spec.Replica, p *ReplicaParams, first, count int) {
		p.Env.Set(cudaVariable, deviceList(first, count))
	})
	return nil
}

// missingGPUs returns why this machine cannot assign the requested number of GPUs, "" if it can.
func (b *Backend) missingGPUs(ctx context.Context, requested int) string {
	lines, err := b.gpuLines(ctx) // one per device, as TorchX counts
	switch {
	case err != nil:
		return err.Error()
	case len(lines) < requested:
		return fmt.Sprintf("the app asks for %d GPUs, this machine has %d", requested, len(lines))
	}
	return ""
}

// forEachGPURequest calls f for each replica that gets GPUs, with the number of its first
// GPU in the plan and their count.
func forEachGPURequest(app *spec.App, o options, req *Request,
	f func(r spec.Replica, p *ReplicaParams, first, count int),
) {
	if !o.autoCUDA {
		return
	}
	next := 0
	for i := range app.Roles {
		role := &app.Roles[i]
		gpus := max(role.Resource.GPU, 0)
		params, _ := req.RoleParams.Get(role.Name)
		for id := range params {
			if gpus > 0 {
				f(spec.Replica{Role: role.Name, ID: id}, &params[id], next, gpus)
				next += gpus
			}
		}
	}
}

// deviceRequest requests devices for replicas that have the numbers of the plan. Numbers
// that the user edited stay.
func deviceRequest(app *spec.App, o options, req *Request, environ []string) *agent.DeviceRequest {
	r := &agent.DeviceRequest{Variable: cudaVariable}
	forEachGPURequest(app, o, req, func(key spec.Replica, p *ReplicaParams, first, count int) {
		// The length first, because count may be huge.
		if v, ok := p.Env.Get(cudaVariable); ok && len(v) >= 2*count-1 &&
			v == deviceList(first, count) {
			r.Replicas = append(r.Replicas, agent.ReplicaDevice{Role: key.Role, Replica: key.ID, Count: count})
		}
	})
	if len(r.Replicas) == 0 {
		return nil
	}
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, cudaVariable+"="); ok {
			r.Visible = &v
		}
	}
	return r
}

func deviceList(first, n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(first + i)
	}
	return strings.Join(ids, ",")
}

// gpuLines lists the GPUs once: nvidia-smi may take a second.
func (b *Backend) gpuLines(ctx context.Context) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gpus == nil {
		lines, err := machine.ListGPUs(ctx)
		b.gpus = func() ([]string, error) { return lines, err }
	}
	return b.gpus()
}

// machineGPUs returns the devices for an agent that assigns or queues for GPUs. The agent
// cannot list them itself, because it reaps every child process. Plan has already warned
// of errors.
func (b *Backend) machineGPUs(ctx context.Context) []machine.GPU {
	lines, _ := b.gpuLines(ctx)
	return machine.ParseGPUs(lines)
}

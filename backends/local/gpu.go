package local

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/machine"
	"torchx/runtime/spec"
)

// wantedGPUs is what all replicas of an app ask for together.
func wantedGPUs(app *spec.App) (n int) {
	for i := range app.Roles {
		n += max(app.Roles[i].Resource.GPU, 0) * app.Roles[i].NumReplicas
	}
	return n
}

// assignGPUs hands the machine's GPUs out in order over roles and replicas, as
// TorchX does, and returns warnings. The numbers assume
// an idle machine: the agent replaces them by devices that are free.
func (b *Backend) assignGPUs(ctx context.Context, app *spec.App, o options, req *Request) []string {
	if wantedGPUs(app) > 0 && !o.autoCUDA {
		return []string{"the app asks for GPUs, but replicas see all of this machine's: use -cfg auto_set_cuda_visible_devices=true to hand them out"}
	}
	if missing := b.missingGPUs(ctx, app, o); missing != "" {
		return []string{cudaVariable + " is not set: " + missing}
	}
	forEachGPURequest(app, o, req, func(_ spec.Replica, p *ReplicaParams, first, count int) {
		p.Env.Set(cudaVariable, deviceList(first, count))
	})
	return nil
}

// missingGPUs says why this machine cannot give an app its GPUs, "" if it can or
// need not.
func (b *Backend) missingGPUs(ctx context.Context, app *spec.App, o options) string {
	wanted := wantedGPUs(app)
	if wanted == 0 || !o.autoCUDA {
		return ""
	}
	lines, err := b.gpuLines(ctx) // one for each device, as TorchX counts
	switch {
	case err != nil:
		return err.Error()
	case len(lines) < wanted:
		return fmt.Sprintf("the app asks for %d GPUs, this machine has %d", wanted, len(lines))
	}
	return ""
}

// forEachGPURequest calls f for each replica that gets GPUs, with the number of the first in
// the order of the plan and how many they are.
func forEachGPURequest(app *spec.App, o options, req *Request, f func(r spec.Replica, p *ReplicaParams, first, count int)) {
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

// deviceRequest requests devices for replicas whose numbers are those of the plan. An
// edited plan keeps the numbers that the user chose.
func deviceRequest(app *spec.App, o options, req *Request, environ []string) *agent.DeviceRequest {
	r := &agent.DeviceRequest{Variable: cudaVariable}
	forEachGPURequest(app, o, req, func(key spec.Replica, p *ReplicaParams, first, count int) {
		// The length first: any number of GPUs may be asked for.
		if v, ok := p.Env.Get(cudaVariable); ok && len(v) >= 2*count-1 && v == deviceList(first, count) {
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

// gpuLines asks once: the program may take a second.
func (b *Backend) gpuLines(ctx context.Context) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gpus == nil {
		lines, err := machine.ListGPUs(ctx)
		b.gpus = func() ([]string, error) { return lines, err }
	}
	return b.gpus()
}

// machineGPUs are the devices that an agent deals with. It cannot look itself,
// since it takes in the end of every process below it. What cannot be told has been
// said when the app was planned.
func (b *Backend) machineGPUs(ctx context.Context, p *backend.Plan, r *agent.DeviceRequest) []machine.GPU {
	if r == nil && (!p.Queue || wantedGPUs(p.App) == 0) {
		return nil
	}
	lines, _ := b.gpuLines(ctx)
	return machine.ParseGPUs(lines)
}

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

// wantedGPUs is what all replicas of an app ask for together.
func wantedGPUs(app *spec.App) (n int) {
	for i := range app.Roles {
		n += max(app.Roles[i].Resource.GPU, 0) * app.Roles[i].NumReplicas
	}
	return n
}

// assignGPUs hands the machine's GPUs out in order over roles and replicas, as
// TorchX does, and returns warnings. The numbers are those of a machine that
// nobody else uses: the agent exchanges them for devices that are free.
func assignGPUs(ctx context.Context, app *spec.App, o options, req *Request) []string {
	if wantedGPUs(app) > 0 && !o.autoCUDA {
		return []string{"the app asks for GPUs, but replicas see all of this machine's: use -cfg auto_set_cuda_visible_devices=true to hand them out"}
	}
	if missing := missingGPUs(ctx, app, o); missing != "" {
		return []string{cudaVariable + " is not set: " + missing}
	}
	eachGPUs(app, o, req, func(_ spec.Replica, p *ReplicaParams, numbers string, _ int) { p.Env.Set(cudaVariable, numbers) })
	return nil
}

// missingGPUs says why this machine cannot give an app its GPUs, "" if it can or
// need not.
func missingGPUs(ctx context.Context, app *spec.App, o options) string {
	wanted := wantedGPUs(app)
	if wanted == 0 || !o.autoCUDA {
		return ""
	}
	have, err := countGPUs(ctx)
	switch {
	case err != nil:
		return err.Error()
	case have < wanted:
		return fmt.Sprintf("the app asks for %d GPUs, this machine has %d", wanted, have)
	}
	return ""
}

// eachGPUs calls f for each replica that gets GPUs, with their numbers in the order
// of the plan and how many they are.
func eachGPUs(app *spec.App, o options, req *Request, f func(r spec.Replica, p *ReplicaParams, numbers string, count int)) {
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
				f(spec.Replica{Role: role.Name, ID: id}, &params[id], deviceList(next, gpus), gpus)
				next += gpus
			}
		}
	}
}

// deviceRequest asks for devices for the replicas whose numbers are those of the
// plan. What an edited plan says instead is somebody's own choice and stays.
func deviceRequest(app *spec.App, o options, req *Request, environ []string) *agent.DeviceRequest {
	r := &agent.DeviceRequest{Variable: cudaVariable}
	eachGPUs(app, o, req, func(key spec.Replica, p *ReplicaParams, numbers string, count int) {
		if v, ok := p.Env.Get(cudaVariable); ok && v == numbers {
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

// countGPUs counts the lines of `nvidia-smi -L`, one for each device.
func countGPUs(ctx context.Context) (int, error) {
	lines, err := machine.ListGPUs(ctx)
	return len(lines), err
}

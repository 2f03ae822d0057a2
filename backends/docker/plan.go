package docker

import (
	"context"
	"runtime"
	"strconv"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"torchx/backends/bundled"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// planner plans apps and prepares their images. It contacts only the engine that is
// passed to it.
type planner struct {
	version string   // of this program, for the label
	offline bool     // the user forbids the network
	environ []string // selects the engine, "K=V"
}

// Plan returns the containers of an app. Apart from its input it reads only the files of
// workspaces.
func (p planner) Plan(ctx context.Context, in backend.PlanInput) (*backend.Plan, error) {
	o, err := readOptions(in.Cfg)
	if err != nil {
		return nil, err
	}
	if err := checkDevices(in.App); err != nil {
		return nil, err
	}
	plan := &backend.Plan{ID: in.ID, App: in.App.Clone(), Cfg: in.Cfg, Launch: backend.Launch{Progress: in.Progress}}
	plan.Warnings = append(unsupported(in.App, o), p.unreachablePorts(in.App, o, runtime.GOOS)...)
	spaces, err := planWorkspaces(ctx, plan, in, o)
	if err != nil {
		return nil, err
	}
	req := &Request{
		AppID: in.ID, Network: networkName, OutputDir: bundled.OutputPath(in),
		builds: spaces.builds, defaultImage: in.DefaultImage,
	}
	if req.OutputDir != "" {
		plan.Warnings = append(plan.Warnings, p.unreachableOutput()...)
	}
	names := newNames(in.ID, in.App)
	published := ports{}
	for i := range in.App.Roles {
		role := &in.App.Roles[i]
		for id := range role.NumReplicas {
			c := p.container(o, in, role, id, names, spaces.image(role))
			spaces.bind(c, role)
			if o.publishPorts {
				published.publish(c.Config, c.HostConfig, role.PortMap)
			}
			req.Containers = append(req.Containers, *c)
		}
	}
	plan.Request, plan.Warnings = req, append(plan.Warnings, req.hostAccess()...)
	return plan, nil
}

// container returns the container of one replica.
func (p planner) container(o options, in backend.PlanInput, role *spec.Role, id int, n names, image string) *Container {
	macros := spec.Macros{AppID: in.ID, ReplicaID: strconv.Itoa(id), Rank0Env: spec.Rank0HostVariable}
	r := macros.Apply(*role)
	c := &Container{
		Name: n.replica(role.Name, id),
		Config: &container.Config{
			Env: o.environment(in.Environ, &r, n.rank0(in.App), image),
			// Without an entry point here, that of the image would precede the role's.
			Entrypoint: []string{role.Entrypoint}, Cmd: r.Args, Image: image,
			Labels: map[string]string{
				LabelVersion: p.version, LabelAppID: in.ID, LabelRole: role.Name, LabelReplica: strconv.Itoa(id),
			},
		},
		HostConfig: &container.HostConfig{Privileged: o.privileged, NetworkMode: networkName},
		Networking: &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{networkName: {}}},
	}
	c.Config.Hostname = c.Name
	if o.init {
		c.HostConfig.Init = &o.init
	}
	addMounts(c.HostConfig, role.Mounts, in.Cwd)
	setResources(c.HostConfig, role.Resource)
	return c
}

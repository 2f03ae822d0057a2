package docker

import (
	"context"
	"path"
	"runtime"
	"strconv"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"torchx/backends/supervised"
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
	plan.Warnings = append(unsupported(in.App, o), p.unreachablePorts(in.App, in.Cfg, o, runtime.GOOS)...)
	spaces, err := planWorkspaces(ctx, plan, in, o)
	if err != nil {
		return nil, err
	}
	req := &Request{
		AppID: in.ID, Network: networkName, OutputDir: supervised.OutputPath(in),
		builds: spaces.builds, defaultImage: in.DefaultImage,
	}
	if req.OutputDir != "" {
		plan.Warnings = append(plan.Warnings, p.unreachableOutput(in.Cfg)...)
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
func (p planner) container(
	o options, in backend.PlanInput, role *spec.Role, id int, n names, image string,
) *Container {
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
	o.apply(c)
	addMounts(c.HostConfig, role.Mounts, in.Cwd)
	setResources(c.HostConfig, role.Resource)
	return c
}

// Values of the pull option.
const (
	pullMissing = "missing" // only images that the engine does not have
	pullAlways  = "always"  // before each start
	pullNever   = "never"   // a missing image is an error
)

// Values of the workspace_mode option.
const (
	workspaceImage = "image" // build an image that contains the folders
	workspaceBind  = "bind"  // mount the folders
)

const defaultGrace = 10.0 // seconds, as in TorchX and docker stop

// Options lists the -cfg keys; the first five are those of TorchX.
func (p planner) Options() []backend.Option {
	return []backend.Option{
		{Key: "copy_env", Risk: backend.Exports, Type: backend.TypeList, Help: "environment variables to copy into every container, by name or pattern: A_*;B"},
		{Key: "env", Risk: backend.Loads, Type: backend.TypeMap, Help: "environment variables to set in every container: K:V,K2:V2"},
		{Key: "privileged", Risk: backend.Escalates, Type: backend.TypeBool, Default: false, Help: "run containers with all privileges of the host"},
		{Key: "image_repo", Risk: backend.Elsewhere, Type: backend.TypeStr, Help: "repository for built images, for remote backends; the Docker Engine needs none"},
		{Key: "quiet", Risk: backend.Harmless, Type: backend.TypeBool, Default: false, Help: "do not show the output of image builds"},
		{Key: "pull", Risk: backend.Harmless, Type: backend.TypeStr, Default: pullMissing, Choices: []string{pullMissing, pullAlways, pullNever}, Help: "when to pull images"},
		{Key: "init", Risk: backend.Harmless, Type: backend.TypeBool, Default: true, Help: "run an init as PID 1 that forwards signals and reaps zombies; without it most programs ignore SIGTERM"},
		{Key: "platform", Risk: backend.Harmless, Type: backend.TypeStr, Help: "platform of images and containers: linux/amd64"},
		{Key: "ulimits", Risk: backend.Escalates, Type: backend.TypeMap, Help: "limits of processes in containers, SOFT:HARD or one for both: memlock:-1,nofile:1024:65536"},
		{Key: "dns", Risk: backend.Elsewhere, Type: backend.TypeList, Help: "DNS servers of containers: 10.0.0.2;10.0.0.3"},
		{Key: "extra_hosts", Risk: backend.Elsewhere, Type: backend.TypeMap, Help: "addresses of hosts that containers know by name: db:10.0.0.9,host.docker.internal:host-gateway"},
		{Key: "publish_ports", Risk: backend.Harmless, Type: backend.TypeBool, Default: false, Help: "publish the ports of port_map on 127.0.0.1 of the engine's machine"},
		{Key: "workspace_mode", Risk: backend.Harmless, Type: backend.TypeStr, Default: workspaceImage, Choices: []string{workspaceImage, workspaceBind}, Help: "image: build the workspace into an image; bind: mount it at " + bindRoot + ", where edits take effect immediately"},
		{Key: "host", Risk: backend.Elsewhere, Type: backend.TypeStr, Help: "engine to use instead of DOCKER_HOST: ssh://user@machine, tcp://machine:2376, unix:///run/docker.sock"},
		{Key: "context", Risk: backend.Elsewhere, Type: backend.TypeStr, Help: "docker context whose engine to use, as in docker context ls"},
		supervised.OutputOption,
		{Key: "grace_period", Risk: backend.Harmless, Protects: true, Type: backend.TypeFloat, Default: defaultGrace, Help: "seconds between SIGTERM and SIGKILL when a container is stopped"},
		{Key: "fail_fast", Risk: backend.Harmless, Protects: true, Type: backend.TypeBool, Default: true, Help: "stop the others when a replica has failed for good; false lets them finish, as TorchX does"},
	}
}

// options are the resolved -cfg values.
type options struct {
	containerOptions

	copyEnv      []string
	env          map[string]string
	privileged   bool
	quiet        bool
	pull         string
	init         bool
	publishPorts bool
	mode         string // workspace_mode
	grace        float64
	failFast     bool
}

func readOptions(cfg backend.Config) (options, error) {
	o := options{pull: pullMissing, init: true, mode: workspaceImage, grace: defaultGrace, failFast: true}
	set(&o.copyEnv, cfg["copy_env"])
	set(&o.env, cfg["env"])
	set(&o.privileged, cfg["privileged"])
	set(&o.quiet, cfg["quiet"])
	set(&o.publishPorts, cfg["publish_ports"])
	set(&o.pull, cfg["pull"])
	set(&o.init, cfg["init"])
	set(&o.mode, cfg["workspace_mode"])
	set(&o.grace, cfg["grace_period"])
	set(&o.failFast, cfg["fail_fast"])
	for _, pattern := range o.copyEnv {
		if _, err := path.Match(pattern, ""); err != nil {
			return o, backend.Errorf(backend.ErrInvalidOption,
				"copy_env: %q is not a pattern: unclosed [", pattern)
		}
	}
	if o.grace < 0 {
		return o, backend.Errorf(backend.ErrInvalidOption,
			"grace_period=%v: must not be negative", o.grace)
	}
	if err := checkEngine(cfg); err != nil {
		return o, err
	}
	return o, o.read(cfg)
}

// set stores a value of the right type. nil (None) keeps the default.
func set[T any](to *T, value any) {
	if v, ok := value.(T); ok {
		*to = v
	}
}

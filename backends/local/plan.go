package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"torchx/backends/supervised"
	"torchx/runtime/backend"
	"torchx/runtime/machine"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Environment variables that TorchX sets for a local replica.
const (
	pathVariable   = "PATH"
	petLogVariable = "PET_LOG_DIR"
	cudaVariable   = machine.VisibleVariable
)

// Plan returns the processes of an app. Apart from its input it reads only the limits of
// the machine, and the number of GPUs if it assigns them.
func (b *Backend) Plan(ctx context.Context, in backend.PlanInput) (*backend.Plan, error) {
	o, err := readOptions(in)
	if err != nil {
		return nil, err
	}
	l := newLayout(b.Home, o.logDir, in.ID)
	req := &Request{AppID: in.ID, LogDir: l.Dir, OutputDir: o.outputDir}
	for i := range in.App.Roles {
		role := &in.App.Roles[i]
		if order, err := role.Order(); err == nil && order.Ready != nil && order.Ready.Healthcheck {
			return nil, fmt.Errorf("role %s is ready by the healthcheck of its image, which the local backend does not run: use a probe of a port or the log", role.Name)
		}
		cwd, err := o.workingDir(role, in.Cwd)
		if err != nil {
			return nil, err
		}
		params := make([]ReplicaParams, role.NumReplicas)
		dirs := make([]string, role.NumReplicas)
		for id := range params {
			params[id] = o.replica(in, l, role, id, cwd)
			dirs[id] = l.ReplicaDir(spec.Replica{Role: role.Name, ID: id}, 0)
		}
		req.RoleParams.Set(role.Name, params)
		req.RoleLogDirs.Set(role.Name, dirs)
	}
	p := &backend.Plan{ID: in.ID, App: in.App.Clone(), Cfg: in.Cfg, Request: req}
	p.Begin = func() func() { return b.Begin(in.ID) }
	p.Warnings = append(unsupported(in, o), b.assignGPUs(ctx, in.App, o, req)...)
	limits, err := limitWarnings(o, in.App)
	if err != nil {
		return nil, err
	}
	p.Warnings = append(p.Warnings, limits...)
	return p, nil
}

// options are the resolved -cfg values.
type options struct {
	logDir     string
	prependCwd bool
	autoCUDA   bool
	imageType  string
	grace      float64
	failFast   bool
	logLimit   int64 // bytes per stream; 0: none
	outputDir  string

	limits       string
	cgroupParent string // absolute; "": that of the agent
}

// minLogLimit refuses limits that are probably mistakes and would drop most of a log.
const minLogLimit = 1 << 20

func readOptions(in backend.PlanInput) (options, error) {
	o := options{imageType: imageCwd, grace: defaultGrace, failFast: true, limits: limitsNone}
	o.logDir, _ = in.Cfg["log_dir"].(string)
	o.prependCwd, _ = in.Cfg["prepend_cwd"].(bool)
	o.autoCUDA, _ = in.Cfg["auto_set_cuda_visible_devices"].(bool)
	if v, ok := in.Cfg["image_type"].(string); ok {
		o.imageType = v
	}
	if v, ok := in.Cfg["grace_period"].(float64); ok {
		o.grace = v
	}
	if v, ok := in.Cfg["fail_fast"].(bool); ok {
		o.failFast = v
	}
	if o.grace < 0 {
		return o, backend.Errorf(backend.ErrInvalidOption,
			"grace_period=%v: must not be negative", o.grace)
	}
	if v, ok := in.Cfg["log_max_size"].(string); ok && v != "" {
		n, err := parseSize(v)
		if err != nil {
			return o, backend.Errorf(backend.ErrInvalidOption, "log_max_size=%w", err)
		}
		if n < minLogLimit {
			return o, backend.Errorf(backend.ErrInvalidOption,
				"log_max_size=%s: must be at least 1MiB", v)
		}
		o.logLimit = n
	}
	if v, ok := in.Cfg["limits"].(string); ok {
		o.limits = v
	}
	if err := checkLimits(o); err != nil {
		return o, err
	}
	if o.cgroupParent, _ = in.Cfg["cgroup_parent"].(string); o.cgroupParent != "" &&
		!filepath.IsAbs(o.cgroupParent) {
		return o, backend.Errorf(backend.ErrInvalidOption,
			"cgroup_parent=%s: must be an absolute path", o.cgroupParent)
	}
	if o.imageType != imageCwd && o.imageType != imageDir {
		return o, backend.Errorf(backend.ErrInvalidOption,
			"image_type=%s: must be cwd or dir", o.imageType)
	}
	if o.logDir != "" && !filepath.IsAbs(o.logDir) {
		o.logDir = filepath.Join(in.Cwd, o.logDir)
	}
	o.outputDir = supervised.OutputPath(in)
	return o, nil
}

// workingDir returns the folder in which a role's replicas run.
func (o options) workingDir(role *spec.Role, cwd string) (string, error) {
	if o.imageType == imageCwd {
		return cwd, nil
	}
	const advice = "with image_type=dir the image must be an absolute path of an existing folder"
	dir, err := safefile.ExpandHome(role.Image, "")
	if err != nil || !filepath.IsAbs(dir) {
		return "", fmt.Errorf("image %q of role %s is not an absolute path: %s",
			role.Image, role.Name, advice)
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return "", fmt.Errorf("image %q of role %s is not a folder: %s",
			role.Image, role.Name, advice)
	}
	return filepath.Clean(dir), nil
}

func (o options) replica(
	in backend.PlanInput, l layout, role *spec.Role, id int, cwd string,
) ReplicaParams {
	macros := spec.Macros{ImgRoot: cwd, AppID: in.ID, ReplicaID: strconv.Itoa(id), Rank0Env: spec.Rank0HostVariable}
	r := macros.Apply(*role)
	key := spec.Replica{Role: role.Name, ID: id}
	path, _ := r.Env.Get(pathVariable)
	if o.prependCwd {
		path = spec.JoinPath(cwd, path)
	} else {
		path = spec.JoinPath(path, cwd)
	}
	r.Env.Set(pathVariable, path)
	r.Env.Set(spec.Rank0HostVariable, "localhost")
	r.Env.SetDefault(spec.ErrorFileVariable, l.errorFile(key, 0))
	r.Env.SetDefault(petLogVariable, l.elasticDir(role.Name))
	dir := l.ReplicaDir(key, 0)
	return ReplicaParams{
		Args: append([]string{role.Entrypoint}, r.Args...), Env: r.Env, Cwd: cwd,
		Stdout: filepath.Join(dir, "stdout.log"), Stderr: filepath.Join(dir, "stderr.log"),
	}
}

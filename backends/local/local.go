// Package local runs apps as processes of this machine. Each app has a detached agent
// (runtime/agent), which outlives the command that submitted it.
//
//	Backend   Plan and Load: app ──► Request; Submit: manifest, bundle, agent;
//	          reads bundles (backends/supervised); OpenTerminal connects clients (ttypipe)
//	commands  in the agent: the command of each attempt, with its environment and limits
//	proc      in the agent: starts processes, drains their output, reaps them
package local

import (
	"encoding/json"
	"path/filepath"
	"sync"
	"time"

	"torchx/backends/driver"
	"torchx/backends/supervised"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Name is the backend's canonical name.
const Name = "local"

// Values of the image_type option.
const (
	imageCwd = "cwd" // the image is ignored, replicas run in the command's folder
	imageDir = "dir" // the image is an absolute folder in which replicas run
)

const defaultGrace = 10.0 // seconds, as in TorchX and docker stop

// Config is what the program passes to the backend.
type Config struct {
	Home string // TORCHX_HOME, absolute
	Exe  string // the program to run as `<exe> agent <bundle>`
}

// Backend is the local backend. It caches the list of GPUs.
type Backend struct {
	*supervised.Apps

	mu   sync.Mutex
	gpus func() ([]string, error) // nil before the first use
}

// Driver registers the backend.
func Driver() driver.Driver {
	return driver.Driver{
		Name:    Name,
		Aliases: map[string]map[string]string{"local_cwd": nil, "local_dir": {"image_type": imageDir}},
		Open: func(e driver.Env) (backend.Backend, error) {
			return New(Config{Home: e.Home, Exe: e.Exe})
		},
		RunAgent: runAgent, OwnsDir: driver.OwnsBundle(Name),
		Commands: hiddenCommands(),
	}
}

// New returns the backend. It accesses no files.
func New(c Config) (*Backend, error) {
	apps, err := supervised.New(supervised.Config{Backend: Name, Home: c.Home, Exe: c.Exe, Layout: bundleLayout})
	if err != nil {
		return nil, err
	}
	return &Backend{Apps: apps}, nil
}

// bundleLayout returns the layout of an app's logs.
func bundleLayout(m *agent.Manifest) (supervised.Layout, error) {
	var request struct {
		LogDir string `json:"log_dir"`
	}
	if err := json.Unmarshal(m.Request, &request); err != nil {
		return supervised.Layout{}, err
	}
	return layoutOf(m, request.LogDir).Layout, nil
}

// FindLogs returns the logs below the log_dir of an app without a bundle.
func (b *Backend) FindLogs(
	id string, cfg backend.Config, cwd string, roles []spec.RoleStatus,
) *backend.RetainedLogs {
	dir, _ := cfg["log_dir"].(string)
	if dir == "" {
		return nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cwd, dir)
	}
	return supervised.UserLogs(newLayout(b.Home, dir, id).Dir, roles)
}

// Name is "local".
func (b *Backend) Name() string { return Name }

// Options lists the -cfg keys; the first three are those of TorchX.
func (b *Backend) Options() []backend.Option {
	return []backend.Option{
		{Key: "log_dir", Risk: backend.Writes, Path: true, Type: backend.TypeStr, Help: "folder to write the log files of replicas to; kept on delete (default: inside TORCHX_HOME)"},
		{Key: "prepend_cwd", Risk: backend.Executes, Type: backend.TypeBool, Default: false, Help: "search for programs in the working folder before PATH (default: only in PATH)"},
		{Key: "auto_set_cuda_visible_devices", Risk: backend.Harmless, Type: backend.TypeBool, Default: false, Help: "assign the GPUs of this machine to replicas by CUDA_VISIBLE_DEVICES"},
		{Key: "image_type", Risk: backend.Harmless, Type: backend.TypeStr, Default: imageCwd, Choices: []string{imageCwd, imageDir}, Help: "cwd: ignore the image; dir: run replicas in the image, an absolute folder"},
		{Key: "grace_period", Risk: backend.Harmless, Protects: true, Type: backend.TypeFloat, Default: defaultGrace, Help: "seconds between SIGTERM and SIGKILL when replicas are stopped"},
		{Key: "fail_fast", Risk: backend.Harmless, Protects: true, Type: backend.TypeBool, Default: true, Help: "stop the others when a replica has failed for good; false lets them finish, as TorchX does"},
		{Key: "log_max_size", Risk: backend.Harmless, Protects: true, Type: backend.TypeStr, Help: "keep only the last part of each log file (stdout, stderr) of an attempt, such as 1GiB, at least 1MiB (default: keep all)"},
		supervised.OutputOption,
		{Key: "limits", Risk: backend.Harmless, Protects: true, Type: backend.TypeStr, Default: limitsNone, Choices: []string{limitsNone, limitsAuto, limitsCgroup, limitsRlimit}, Help: "enforce memMB and cpu of each replica (Linux); cgroup: by delegated cgroup v2; rlimit: only memMB, for each process separately; auto: the best that works"},
		{Key: "cgroup_parent", Risk: backend.Writes, Path: true, Type: backend.TypeStr, Help: "delegated cgroup v2 folder in which to create the groups of replicas (default: that of torchx)"},
	}
}

// handleOf returns the handle of a local app.
func handleOf(id string) string {
	return spec.Handle{Backend: Name, Session: spec.Session, AppID: id}.String()
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Package local runs apps as processes of this machine. Each app has a detached
// agent (runtime/agent) that outlives the command that submitted it; this package
// plans, submits and reads, and tells the agent how its replicas are run.
package local

import (
	"encoding/json"
	"path/filepath"
	"sync"
	"time"

	"torchx/backends/bundled"
	"torchx/backends/driver"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Name is the backend's canonical name.
const Name = "local"

// Values of the image_type option.
const (
	imageCwd = "cwd" // the image is ignored, replicas run in the command's folder
	imageDir = "dir" // the image is an absolute folder that replicas run in
)

const defaultGrace = 10.0 // seconds, as TorchX and docker stop

// Config is what the backend needs of the program.
type Config struct {
	Home string // TORCHX_HOME, absolute
	Exe  string // the program to run as `<exe> agent <bundle>`
}

// Backend is the local backend. It keeps the GPUs once it has looked.
type Backend struct {
	*bundled.Apps

	mu   sync.Mutex
	gpus func() ([]string, error) // nil before the first use
}

var (
	_ backend.Backend         = (*Backend)(nil)
	_ backend.Waiter          = (*Backend)(nil)
	_ backend.Prober          = (*Backend)(nil)
	_ backend.Sweeper         = (*Backend)(nil)
	_ backend.HistoryRestorer = (*Backend)(nil)
	_ backend.Queuer          = (*Backend)(nil)
	_ backend.TerminalOpener  = (*Backend)(nil)
	_ backend.Sizer           = (*Backend)(nil)
	_ backend.LogRetainer     = (*Backend)(nil)
	_ backend.LogFinder       = (*Backend)(nil)
)

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

// New returns the backend; it touches nothing.
func New(c Config) (*Backend, error) {
	apps, err := bundled.New(bundled.Config{Backend: Name, Home: c.Home, Exe: c.Exe, Layout: logsOf})
	if err != nil {
		return nil, err
	}
	return &Backend{Apps: apps}, nil
}

// logsOf tells where the logs of an app are.
func logsOf(m *agent.Manifest) (bundled.Layout, error) {
	var request struct {
		LogDir string `json:"log_dir"`
	}
	if err := json.Unmarshal(m.Request, &request); err != nil {
		return bundled.Layout{}, err
	}
	return layoutOf(m, request.LogDir).Layout, nil
}

// FindLogs looks below the log_dir of an app that is gone.
func (b *Backend) FindLogs(id string, cfg backend.Config, cwd string, roles []spec.RoleStatus) *backend.RetainedLogs {
	dir, _ := cfg["log_dir"].(string)
	if dir == "" {
		return nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cwd, dir)
	}
	return bundled.UserLogs(newLayout(b.Home, dir, id).Dir, roles)
}

// Name is "local".
func (b *Backend) Name() string { return Name }

// Options lists the -cfg keys; the first three are those of TorchX.
func (b *Backend) Options() []backend.Option {
	return []backend.Option{
		{Key: "log_dir", Path: true, Type: backend.TypeStr, Help: "folder to write the log files of replicas to; kept on delete (default: inside TORCHX_HOME)"},
		{Key: "prepend_cwd", Type: backend.TypeBool, Default: false, Help: "look programs up in the working folder before PATH; otherwise it is not searched"},
		{Key: "auto_set_cuda_visible_devices", Type: backend.TypeBool, Default: false, Help: "hand the GPUs of this machine out to replicas by CUDA_VISIBLE_DEVICES"},
		{Key: "image_type", Type: backend.TypeStr, Default: imageCwd, Choices: []string{imageCwd, imageDir}, Help: "cwd: the image is ignored; dir: the image is the absolute folder that replicas run in"},
		{Key: "grace_period", Protects: true, Type: backend.TypeFloat, Default: defaultGrace, Help: "seconds between SIGTERM and SIGKILL when replicas are stopped"},
		{Key: "fail_fast", Protects: true, Type: backend.TypeBool, Default: true, Help: "stop the others when a replica has failed for good; false lets them finish, as TorchX does"},
		{Key: "log_max_size", Protects: true, Type: backend.TypeStr, Help: "keep only the newest part of each log file (stdout, stderr) of an attempt, such as 1GiB, at least 1MiB (default: keep all)"},
		{Key: "limits", Protects: true, Type: backend.TypeStr, Default: limitsNone, Choices: []string{limitsNone, limitsAuto, limitsCgroup, limitsRlimit}, Help: "enforce memMB and cpu of each replica (Linux): by cgroup v2 where it is delegated, rlimit: memory only, of each process by itself; auto: the better one that works"},
		{Key: "cgroup_parent", Path: true, Type: backend.TypeStr, Help: "cgroup v2 folder, delegated to you, that the replicas' groups are made in (default: the one torchx runs in)"},
	}
}

// Queues is true: the agents of a home agree on who starts when.
func (b *Backend) Queues() bool { return true }

// handleOf is the handle of a local app.
func handleOf(id string) string {
	return spec.Handle{Backend: Name, Session: spec.Session, AppID: id}.String()
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

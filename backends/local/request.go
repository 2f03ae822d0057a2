package local

import (
	"path/filepath"

	"torchx/backends/supervised"
	"torchx/runtime/agent"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Request is the plan that the agent runs, in the form of TorchX's PopenRequest. It does
// not contain the environment of the submitting command, which is added at start.
type Request struct {
	AppID       string                    `json:"app_id"`
	LogDir      string                    `json:"log_dir"`
	RoleParams  spec.Map[[]ReplicaParams] `json:"role_params"`
	RoleLogDirs spec.Map[[]string]        `json:"role_log_dirs"`
	OutputDir   string                    `json:"output_dir,omitempty"` // "": in the bundle
}

// ReplicaParams is the process of one replica. Combined is only read: plans of TorchX and of
// older versions have it, but the file is not written.
type ReplicaParams struct {
	Args     []string         `json:"args"`
	Env      spec.Map[string] `json:"env"`
	Stdout   string           `json:"stdout"`
	Stderr   string           `json:"stderr"`
	Combined string           `json:"combined,omitempty"`
	Cwd      string           `json:"cwd"`
}

// layout holds the paths of an app's files, including those of torchrun and TorchX.
type layout struct{ supervised.Layout }

func newLayout(home, logDir, id string) layout {
	if logDir != "" {
		return layout{supervised.Layout{Dir: filepath.Join(logDir, spec.Session, safefile.Escape(id)), User: true}}
	}
	return layout{supervised.Layout{Dir: agent.BundleAt(home, id).Dir}}
}

// layoutOf returns the layout of an app that was submitted with this log folder.
func layoutOf(m *agent.Manifest, logDir string) layout {
	option, _ := m.Cfg["log_dir"].(string)
	return layout{supervised.Layout{Dir: logDir, User: option != ""}}
}

func (l layout) errorFile(r spec.Replica, attempt int) string {
	return filepath.Join(l.ReplicaDir(r, attempt), "error.json")
}

// elasticDir returns the folder in which torchrun writes its own logs.
func (l layout) elasticDir(role string) string {
	return filepath.Join(l.Dir, "torchelastic", safefile.Escape(role))
}

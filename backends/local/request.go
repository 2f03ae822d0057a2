package local

import (
	"path/filepath"

	"torchx/backends/bundled"
	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

// Request is what the agent is asked to run: TorchX's PopenRequest. The
// environment of the submitting command is not a part of it; it is joined at start.
type Request struct {
	AppID       string                    `json:"app_id"`
	LogDir      string                    `json:"log_dir"`
	RoleParams  spec.Map[[]ReplicaParams] `json:"role_params"`
	RoleLogDirs spec.Map[[]string]        `json:"role_log_dirs"`
}

// ReplicaParams is how one replica is run. Combined names a view of both
// streams; no such file is written.
type ReplicaParams struct {
	Args     []string         `json:"args"`
	Env      spec.Map[string] `json:"env"`
	Stdout   string           `json:"stdout"`
	Stderr   string           `json:"stderr"`
	Combined string           `json:"combined"`
	Cwd      string           `json:"cwd"`
}

// layout knows where an app's logs are: below a folder of the user's, as TorchX
// lays them out, or in the bundle.
type layout struct {
	logDir string // the app's folder
	user   bool   // below the log_dir option
}

func newLayout(home, logDir, id string) layout {
	if logDir != "" {
		return layout{filepath.Join(logDir, spec.Session, agent.Escape(id)), true}
	}
	return layout{agent.BundleAt(home, id).Dir, false}
}

// layoutOf is the layout of an app that was submitted with that log folder.
func layoutOf(m *agent.Manifest, logDir string) layout {
	option, _ := m.Cfg["log_dir"].(string)
	return layout{logDir, option != ""}
}

// replicaDir is the folder of the streams of one attempt, from 0.
func (l layout) replicaDir(r spec.Replica, attempt int) string {
	return bundled.Layout{Dir: l.logDir, User: l.user}.ReplicaDir(r, attempt)
}

func (l layout) errorFile(r spec.Replica, attempt int) string {
	return filepath.Join(l.replicaDir(r, attempt), "error.json")
}

// elasticDir is where torchrun writes its own logs.
func (l layout) elasticDir(role string) string {
	return filepath.Join(l.logDir, "torchelastic", agent.Escape(role))
}

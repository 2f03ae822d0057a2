//go:build unix

package local

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"torchx/backends/driver"
	"torchx/backends/local/proc"
	"torchx/backends/supervised"
	"torchx/backends/ttypipe"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/cgroup"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

func runAgent(dir string, p driver.Program) int {
	return agent.Main(dir, agent.Config{NewLauncher: newLauncher, OpenStore: p.OpenStore, Await: p.Await})
}

// hiddenCommands returns the commands of this program that become replicas.
func hiddenCommands() map[string]func([]string) (int, error) {
	return map[string]func([]string) (int, error){proc.LimitedCommand: proc.ExecLimited}
}

func newLauncher(b agent.Bundle, m *agent.Manifest) (agent.Launcher, error) {
	c, err := newCommands(m)
	if err != nil {
		return nil, err
	}
	var replicas []spec.Replica
	for _, e := range c.request.RoleParams {
		for id := range e.Value {
			replicas = append(replicas, spec.Replica{Role: e.Key, ID: id})
		}
	}
	logger := log.New(os.Stderr, "", log.LstdFlags|log.Lmicroseconds)
	p, err := proc.New(replicas, c.command, logger)
	if err != nil {
		return nil, err
	}
	if m.TTY != nil {
		s, err := ttypipe.Serve(supervised.TerminalInput(b), *m.TTY, logger)
		if err != nil {
			return nil, err
		}
		p.UseTerminal(s)
	}
	return &launcher{p, c}, nil
}

// launcher runs the replicas of one app.
type launcher struct {
	*proc.Launcher
	commands *commands
}

// Ended removes the app's control groups and writes the SUCCESS file of TorchX.
func (l *launcher) Ended(s *spec.Status) error {
	cgroup.RemoveApp(l.commands.cgroupParent)
	return l.commands.writeSuccess(s, time.Now())
}

// commands builds the command of each attempt from the request.
type commands struct {
	request      Request
	layout       layout
	imageRoot    bool
	terminal     bool
	environ      []string
	logLimit     int64
	cwdInPath    bool // also search the working folder for programs
	roles        map[string]*spec.Role
	limits       limitPlan
	cgroupParent string // parent folder of the replicas' control groups; "": none

	sharedCgroup string // control group of all replicas, without cgroupParent; "": none
}

func newCommands(m *agent.Manifest) (*commands, error) {
	c := &commands{environ: m.Environ}
	if err := json.Unmarshal(m.Request, &c.request); err != nil {
		return nil, fmt.Errorf("read request of %s: %w", m.ID, err)
	}
	o, err := readOptions(backend.PlanInput{Cfg: m.Cfg})
	if err != nil {
		return nil, fmt.Errorf("read options of %s: %w", m.ID, err)
	}
	c.logLimit = o.logLimit
	if err := c.prepareLimits(o, m); err != nil {
		return nil, err
	}
	c.layout = layoutOf(m, c.request.LogDir)
	c.terminal = m.TTY != nil
	c.imageRoot = m.Cfg["image_type"] == imageDir
	c.cwdInPath = o.prependCwd || c.imageRoot
	return c, nil
}

// prepareLimits sets what limits the replicas.
func (c *commands) prepareLimits(o options, m *agent.Manifest) (err error) {
	c.roles = map[string]*spec.Role{}
	for i := range m.App.Roles {
		c.roles[m.App.Roles[i].Name] = &m.App.Roles[i]
	}
	if c.limits = decideLimits(o, m.App); c.limits.err != nil {
		return c.limits.err
	}
	if c.limits.groups {
		if c.cgroupParent, err = c.limits.parent.App(safefile.Escape(m.ID)); err != nil {
			return fmt.Errorf("limits=%s: %w", o.limits, err)
		}
		return nil
	}
	if parent, err := openCgroup(o.cgroupParent, nil); err == nil {
		c.sharedCgroup = parent.AppGroup(agent.BundleAt(m.Home, m.ID).Dir)
	}
	return nil
}

func (c *commands) command(r spec.Replica, attempt int) proc.Command {
	all, _ := c.request.RoleParams.Get(r.Role)
	p := all[r.ID]
	env := p.Env.Clone()
	if v, _ := env.Get(spec.ErrorFileVariable); v == c.layout.errorFile(r, 0) {
		env.Set(spec.ErrorFileVariable, c.layout.errorFile(r, attempt))
	}
	path, _ := env.Get(pathVariable)
	if !c.cwdInPath {
		path = withoutCwd(path, p.Cwd)
	}
	env.Set(pathVariable, path)
	cmd := proc.Command{
		Argv: p.Args, Dir: p.Cwd, Env: childEnv(c.environ, env), LogDir: c.layout.ReplicaDir(r, attempt), LogLimit: c.logLimit,
	}
	if c.terminal {
		cmd.Env = terminalEnv(cmd.Env)
	}
	cmd.CgroupLimits, cmd.MaxData = c.limits.limitsOf(c.roles[r.Role])
	cmd.SharedCgroup = c.sharedCgroup
	cmd.CgroupParent, cmd.CgroupName = c.cgroupParent, fmt.Sprintf("%s-%d-%d",
		safefile.Escape(r.Role), r.ID, attempt)
	cmd.ErrorFile, _ = env.Get(spec.ErrorFileVariable)
	if !filepath.IsAbs(cmd.ErrorFile) {
		cmd.ErrorFile = filepath.Join(p.Cwd, cmd.ErrorFile)
	}
	if c.imageRoot {
		cmd.ImageRoot = p.Cwd
	}
	return cmd
}

// LogDir implements agent.LogDirs.
func (l *launcher) LogDir(r spec.Replica, attempt int) string {
	return l.commands.layout.ReplicaDir(r, attempt)
}

//go:build unix

package local

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"torchx/backends/local/proc"
	"torchx/backends/local/ttypipe"
	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

// RunAgent is the detached process of one app; it returns the exit code.
func RunAgent(dir string, open func(ctx context.Context, home string) (agent.Store, error)) int {
	return agent.Main(dir, agent.Config{NewLauncher: newLauncher, OpenStore: open})
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
	p, err := proc.New(replicas, c.command, log.New(os.Stderr, "", log.LstdFlags|log.Lmicroseconds))
	if err != nil {
		return nil, err
	}
	if m.TTY != nil {
		input, err := ttypipe.Listen(inputPath(b))
		if err != nil {
			return nil, err
		}
		p.UseTerminal(m.TTY.Rows, m.TTY.Cols, input)
	}
	return &launcher{p, c}, nil
}

// launcher runs the replicas of one app.
type launcher struct {
	*proc.Launcher
	commands *commands
}

// Ended leaves what TorchX's users look for at the end of an app.
func (l *launcher) Ended(s *spec.Status) error { return l.commands.writeSuccess(s, time.Now()) }

// commands turns the request into what is run for each attempt.
type commands struct {
	request   Request
	layout    layout
	imageRoot bool
	terminal  bool
	environ   []string
}

func newCommands(m *agent.Manifest) (*commands, error) {
	c := &commands{environ: m.Environ}
	if err := json.Unmarshal(m.Request, &c.request); err != nil {
		return nil, fmt.Errorf("read request of %s: %w", m.ID, err)
	}
	c.layout = layoutOf(m, c.request.LogDir)
	c.terminal = m.TTY != nil
	c.imageRoot = m.Cfg["image_type"] == imageDir
	return c, nil
}

func (c *commands) command(r spec.Replica, attempt int) proc.Command {
	all, _ := c.request.RoleParams.Get(r.Role)
	p := all[r.ID]
	env := p.Env.Clone()
	if v, _ := env.Get(spec.ErrorFileVariable); v == c.layout.errorFile(r, 0) {
		env.Set(spec.ErrorFileVariable, c.layout.errorFile(r, attempt))
	}
	cmd := proc.Command{
		Argv: p.Args, Dir: p.Cwd, Env: childEnv(c.environ, env), LogDir: c.layout.replicaDir(r, attempt),
	}
	if c.terminal {
		cmd.Env = terminalEnv(cmd.Env)
	}
	cmd.ErrorFile, _ = env.Get(spec.ErrorFileVariable)
	if !filepath.IsAbs(cmd.ErrorFile) {
		cmd.ErrorFile = filepath.Join(p.Cwd, cmd.ErrorFile)
	}
	if c.imageRoot {
		cmd.ImageRoot = p.Cwd
	}
	return cmd
}

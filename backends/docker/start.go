//go:build unix

package docker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

// errorFile is where a program in a container writes its error file, unless the role sets
// another path. Nearly every image has the folder.
const errorFile = "/tmp/torchx-error.json"

// created is a container that exists.
type created struct {
	id        string
	isNew     bool      // created by this call
	startedAt time.Time // zero: not started yet
}

// Start creates all containers of a batch, then starts them in parallel. If one cannot be
// created, it starts none and removes the new ones.
func (l *launcher) Start(ctx context.Context, batch []agent.Start) []agent.Started {
	started := make([]agent.Started, len(batch))
	containers, err := l.create(ctx, batch, started)
	if err != nil {
		l.remove(containers)
		for i := range started {
			if started[i].Err == nil {
				started[i].Err = agent.ErrNotTried
			}
		}
		return started
	}
	generation, _ := l.engine.generation(ctx) // without an answer, the starts below fail
	_ = forEach(len(batch), func(i int) error {
		started[i] = l.start(ctx, batch[i], containers[i], generation)
		return nil // each has its own result
	})
	for i := range started {
		if refused := new(agent.ReplicaStartError); errors.As(started[i].Err, &refused) {
			l.startRefused.Store(true) // Finish removes all containers of the app
		}
	}
	return started
}

// create creates the containers that do not exist and stores errors in started.
func (l *launcher) create(
	ctx context.Context, batch []agent.Start, started []agent.Started,
) ([]created, error) {
	err := l.engine.do(ctx, func() error { return l.ensureNetwork(ctx) })
	if err != nil {
		started[0].Err = refusal(ctx, batch[0].Replica, spec.ExitNotStarted, err)
		return nil, err
	}
	containers := make([]created, len(batch))
	err = forEach(len(batch), func(i int) error {
		err := l.engine.do(ctx, func() (err error) {
			containers[i], err = l.createOne(ctx, batch[i])
			return err
		})
		if err != nil {
			started[i].Err = refusal(ctx, batch[i].Replica, spec.ExitNotStarted, err)
		}
		return err
	})
	if err != nil {
		return containers, err
	}
	if i, err := l.checkPrograms(ctx, batch, containers); err != nil {
		started[i].Err = err
		return containers, err
	}
	return containers, nil
}

// refusal returns why a replica does not start; ErrNotTried if the start was canceled.
func refusal(ctx context.Context, r spec.Replica, code int, err error) error {
	if ctx.Err() != nil {
		return agent.ErrNotTried
	}
	if refused, ok := errors.AsType[*agent.ReplicaStartError](err); ok {
		return refused
	}
	return &agent.ReplicaStartError{Replica: r, Code: code, Err: explained(err)}
}

// createOne creates the container of an attempt, or returns that of a former agent.
func (l *launcher) createOne(ctx context.Context, s agent.Start) (created, error) {
	c := l.body(s)
	answer, err := l.engine.ContainerCreate(ctx, c.Config, c.HostConfig, c.Networking, parsePlatform(c.Platform), c.Name)
	if err == nil {
		return created{id: answer.ID, isNew: true}, nil
	}
	if !errdefs.IsConflict(err) {
		return created{}, err
	}
	old, inspectErr := l.engine.ContainerInspect(ctx, c.Name)
	if inspectErr != nil {
		return created{}, err
	}
	for _, key := range []string{LabelAppID, LabelRole, LabelReplica, LabelAttempt} {
		if old.Config.Labels[key] != c.Config.Labels[key] {
			return created{}, fmt.Errorf("container name %s is in use by another container: remove it by `docker rm %s`", c.Name, c.Name)
		}
	}
	return created{id: old.ID, startedAt: startTime(old)}, nil
}

// body returns the container of an attempt. Later attempts have different names because
// the first container stays for inspection; in the network they keep the first name.
func (l *launcher) body(s agent.Start) *Container {
	planned := l.byKey[s.Replica]
	config := *planned.Config
	config.Env = slices.Concat(planned.Config.Env, s.Env)
	if environment(config.Env, spec.ErrorFileVariable) == "" {
		config.Env = append(config.Env, spec.ErrorFileVariable+"="+errorFile)
	}
	c := &Container{Name: planned.Name, Config: &config, HostConfig: planned.HostConfig, Networking: planned.Networking, Platform: planned.Platform}
	l.addOutput(c)
	l.addMetrics(c, s)
	if l.terminal != nil {
		config.Tty, config.OpenStdin = true, true
	}
	if s.Attempt > 0 {
		c.Name = attemptName(planned.Name, s.Attempt)
		config.Labels = maps.Clone(planned.Config.Labels)
		config.Labels[LabelAttempt] = strconv.Itoa(s.Attempt)
		c.Networking = withAlias(planned.Networking, planned.Name)
	}
	return c
}

// attemptName returns `<name>.attempt-<n>`, a form that planned names do not have.
func attemptName(name string, attempt int) string {
	if attempt == 0 {
		return name
	}
	return name + ".attempt-" + strconv.Itoa(attempt)
}

func withAlias(n *network.NetworkingConfig, alias string) *network.NetworkingConfig {
	if n == nil {
		return nil
	}
	changed := &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{}}
	for name, e := range n.EndpointsConfig {
		if e == nil {
			e = &network.EndpointSettings{}
		}
		with := e.Copy()
		with.Aliases = append(with.Aliases, alias)
		changed.EndpointsConfig[name] = with
	}
	return changed
}

func environment(env []string, name string) string { return lookup(env)(name) }

// remove removes the new containers. Failures are only logged: the rest has the app's label.
func (l *launcher) remove(containers []created) {
	_ = forEach(len(containers), func(i int) error {
		if c := containers[i]; c.isNew {
			err := l.engine.ContainerRemove(l.ctx, c.id,
				container.RemoveOptions{Force: true, RemoveVolumes: true})
			if err != nil && !errdefs.IsNotFound(err) {
				l.log.Printf("remove container %s: %v", c.id, plain(err))
			}
		}
		return nil
	})
}

// start starts one container and follows it.
func (l *launcher) start(
	ctx context.Context, s agent.Start, c created, g generation,
) agent.Started {
	r := &run{replica: s.Replica, attempt: s.Attempt, id: c.id, startedAt: time.Now(), generation: g.id, onLine: s.Line, ended: make(chan struct{}), oom: make(chan struct{})}
	if r.adopted = !c.startedAt.IsZero(); r.adopted {
		r.startedAt = c.startedAt
	}
	l.runs.add(r) // before the start: its end may be reported immediately
	if !r.adopted {
		if err := l.startAttached(ctx, r); err != nil {
			l.runs.remove(r, false)
			l.remove([]created{{id: c.id, isNew: true}})
			code, err := startFailure(l.byKey[s.Replica], err)
			return agent.Started{Err: refusal(ctx, s.Replica, code, err)}
		}
	}
	l.startCopy(r)
	if r.adopted {
		go l.checkEnds(nil)
	}
	if old := s.Attempt - 1 - maxOldContainers; old >= 0 {
		go l.removeOldAttempt(s.Replica, old)
	}
	return agent.Started{
		Process: agent.Process{ID: r.id, Engine: r.generation, Hostname: l.byKey[s.Replica].Config.Hostname}, Time: r.startedAt,
	}
}

// startAttached starts a container. If it has a terminal, nothing that it prints is missed.
func (l *launcher) startAttached(ctx context.Context, r *run) (err error) {
	if l.terminal == nil {
		return l.startContainer(ctx, r.id)
	}
	if r.terminal, err = l.attach(r.id); err != nil {
		return err
	}
	if err := l.startContainer(ctx, r.id); err != nil {
		r.terminal.Close()
		return err
	}
	l.terminal.Use(r.terminal)
	return nil
}

// startFailure returns the exit code of a container that does not start, as docker run
// does, and a short reason. The cause may be the program, a device or a mount.
func startFailure(c *Container, err error) (int, error) {
	text := err.Error()
	switch {
	case !strings.Contains(text, "exec: "):
	case strings.Contains(text, "executable file not found"), strings.Contains(text, "no such file or directory"):
		return spec.ExitNotFound, notFound(c)
	case strings.Contains(text, "permission denied"):
		return spec.ExitNotExecutable, notExecutable(c)
	}
	return spec.ExitNotStarted, plain(err)
}

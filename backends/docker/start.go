//go:build unix

package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"golang.org/x/sync/errgroup"

	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

// errorFile is where a container's program may leave its error file, if the role
// does not choose another place: a folder that nearly every image has.
const errorFile = "/tmp/torchx-error.json"

// Names of an entry point that cannot be started, as a shell and docker say it.
const (
	codeNotFound      = 127
	codeNotExecutable = 126
)

// made is a container that exists.
type made struct {
	id    string
	ours  bool      // made just now
	begun time.Time // when it was started before; zero: not yet
}

// Start creates all containers of a batch, then starts all of them at the same
// time. If one cannot be created, none is started and those made are removed.
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
	now, _ := l.engine.life(ctx) // an engine without an answer is found out below
	var all errgroup.Group
	all.SetLimit(parallel)
	for i, s := range batch {
		all.Go(func() error {
			started[i] = l.start(ctx, s, containers[i], now)
			return nil
		})
	}
	_ = all.Wait() // each has its own answer
	l.halfMade(started)
	return started
}

// halfMade notes that an app could not start as a whole: nothing of it is to stay in
// the engine.
func (l *launcher) halfMade(started []agent.Started) {
	for i := range started {
		var refused *agent.ReplicaStartError
		if errors.As(started[i].Err, &refused) {
			l.half.Store(true)
		}
	}
}

// create makes what is not there and says in started what could not be made.
func (l *launcher) create(ctx context.Context, batch []agent.Start, started []agent.Started) ([]made, error) {
	err := l.engine.do(ctx, func() error { return l.shareNetwork(ctx) })
	if err != nil {
		started[0].Err = refusal(ctx, batch[0].Replica, codeOther, err)
		return nil, err
	}
	containers := make([]made, len(batch))
	var all errgroup.Group
	all.SetLimit(parallel)
	for i, s := range batch {
		all.Go(func() error {
			err := l.engine.do(ctx, func() (err error) {
				containers[i], err = l.createOne(ctx, s)
				return err
			})
			if err != nil {
				started[i].Err = refusal(ctx, s.Replica, codeOther, err)
			}
			return err
		})
	}
	if err := all.Wait(); err != nil {
		return containers, err
	}
	if i, err := l.checkPrograms(ctx, batch, containers); err != nil {
		started[i].Err = err
		return containers, err
	}
	return containers, nil
}

// refusal names what an engine says; a start that was given up is nobody's fault.
func refusal(ctx context.Context, r spec.Replica, code int, err error) error {
	if ctx.Err() != nil {
		return agent.ErrNotTried
	}
	var refused *agent.ReplicaStartError
	if errors.As(err, &refused) {
		return refused
	}
	return &agent.ReplicaStartError{Replica: r, Code: code, Err: clearly(err)}
}

// createOne makes a container, or finds the one that a former agent made.
func (l *launcher) createOne(ctx context.Context, s agent.Start) (made, error) {
	c := l.body(s)
	answer, err := l.engine.ContainerCreate(ctx, c.Config, c.HostConfig, c.Networking, nil, c.Name)
	if err == nil {
		return made{id: answer.ID, ours: true}, nil
	}
	if !errdefs.IsConflict(err) {
		return made{}, err
	}
	old, lookErr := l.engine.ContainerInspect(ctx, c.Name)
	if lookErr != nil {
		return made{}, err
	}
	if !sameLabels(old.Config.Labels, c.Config.Labels) {
		return made{}, fmt.Errorf("container name %s is taken by a container of somebody else: remove it by `docker rm %s`", c.Name, c.Name)
	}
	m := made{id: old.ID}
	if began, err := time.Parse(time.RFC3339Nano, old.State.StartedAt); err == nil && began.Year() > 1 {
		m.begun = began
	}
	return m, nil
}

// sameLabels compares what says which attempt of which replica a container is.
func sameLabels(a, b map[string]string) bool {
	for _, key := range []string{LabelAppID, LabelRole, LabelReplica, LabelAttempt} {
		if a[key] != b[key] {
			return false
		}
	}
	return true
}

// body is the container of an attempt. Later ones have a name of their own, since
// the first stays for whoever wants to look into it; the hosts of the network
// know them by the first one's.
func (l *launcher) body(s agent.Start) *Container {
	planned := l.byKey[s.Replica]
	config := *planned.Config
	config.Env = slices.Concat(planned.Config.Env, s.Env)
	if environment(config.Env, spec.ErrorFileVariable) == "" {
		config.Env = append(config.Env, spec.ErrorFileVariable+"="+errorFile)
	}
	c := &Container{Name: planned.Name, Config: &config, HostConfig: planned.HostConfig, Networking: planned.Networking}
	if s.Attempt == 0 {
		return c
	}
	c.Name = attemptName(planned.Name, s.Attempt)
	labels := map[string]string{LabelAttempt: strconv.Itoa(s.Attempt)}
	for k, v := range planned.Config.Labels {
		labels[k] = v
	}
	config.Labels = labels
	c.Networking = withAlias(planned.Networking, planned.Name)
	return c
}

// attemptName is `<name>.attempt-<n>`; no planned name has that form.
func attemptName(name string, attempt int) string {
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

// remove undoes create, whatever the engine says: what stays has the app's label.
func (l *launcher) remove(containers []made) {
	var all errgroup.Group
	all.SetLimit(parallel)
	for _, c := range containers {
		if !c.ours {
			continue
		}
		all.Go(func() error {
			err := l.engine.ContainerRemove(l.ctx, c.id, container.RemoveOptions{Force: true, RemoveVolumes: true})
			if err != nil && !errdefs.IsNotFound(err) {
				l.log.Printf("remove container %s: %v", c.id, plain(err))
			}
			return nil
		})
	}
	_ = all.Wait() // logged
}

// start begins one container and follows it.
func (l *launcher) start(ctx context.Context, s agent.Start, c made, now life) agent.Started {
	r := &run{replica: s.Replica, attempt: s.Attempt, id: c.id, began: time.Now(), life: now.id, line: s.Line, ended: make(chan struct{})}
	if !c.begun.IsZero() {
		r.began, r.adopted = c.begun, true
	}
	l.mu.Lock()
	l.running[r.id], l.current[r.replica] = r, r // its end may be told before its start
	l.mu.Unlock()
	if c.begun.IsZero() {
		err := l.begin(ctx, c.id)
		if err != nil {
			l.forget(r)
			l.remove([]made{{id: c.id, ours: true}})
			return agent.Started{Err: refusal(ctx, s.Replica, startCode(err), l.explainStart(s.Replica, err))}
		}
	}
	l.follow(r)
	if r.adopted {
		go l.settle(nil)
	}
	if old := s.Attempt - 1 - keptAttempts; old >= 0 {
		go l.retire(s.Replica, old)
	}
	return agent.Started{
		Process: agent.Process{ID: r.id, Engine: r.life, Hostname: l.byKey[s.Replica].Config.Hostname}, Time: r.began,
	}
}

func (l *launcher) forget(r *run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.running, r.id)
	if l.current[r.replica] == r {
		delete(l.current, r.replica)
	}
}

// startCode is how docker run counts a failure to start. Other parts of a
// container may be missing or forbidden, too: a device, a mount.
func startCode(err error) int {
	text := err.Error()
	switch {
	case !strings.Contains(text, "exec: "):
		return codeOther
	case strings.Contains(text, "executable file not found"), strings.Contains(text, "no such file or directory"):
		return codeNotFound
	case strings.Contains(text, "permission denied"):
		return codeNotExecutable
	}
	return codeOther
}

// explainStart shortens what a runtime says of a program that it cannot execute.
func (l *launcher) explainStart(r spec.Replica, err error) error {
	c := l.byKey[r]
	switch startCode(err) {
	case codeNotFound:
		return notFound(c)
	case codeNotExecutable:
		return notExecutable(c)
	}
	return plain(err)
}

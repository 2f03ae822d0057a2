package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"
	"golang.org/x/sync/errgroup"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// LabelAttempt is the number of the attempt. The first one, 0, does not have the label.
const LabelAttempt = "torchx.pytorch.org/attempt"

// appsFilter selects the containers of all apps. Apps of other homes, or of TorchX, are
// found by the labels of their containers.
func appsFilter() filters.Args { return filters.NewArgs(filters.Arg("label", LabelAppID)) }

// List returns the apps of this home and all others that have containers.
// Errors: ErrUnavailable.
func (b *Backend) List(ctx context.Context) ([]backend.View, error) {
	all, err := b.Apps.List(ctx)
	if err != nil {
		return nil, err
	}
	engine, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	containers, err := engine.ContainerList(ctx,
		container.ListOptions{All: true, Filters: appsFilter()})
	if err != nil {
		return nil, backend.Errorf(backend.ErrUnavailable, "list containers: %w", plain(err))
	}
	byApp := map[string][]container.Summary{}
	for _, c := range containers {
		id := c.Labels[LabelAppID]
		byApp[id] = append(byApp[id], c)
	}
	for _, c := range containers { // keeps their order
		id := c.Labels[LabelAppID]
		if own := byApp[id]; own != nil && !b.Bundle(id).Exists() {
			delete(byApp, id)
			v := backend.View{Foreign: true}
			v.ID, v.State = id, statusOf(id, own).State
			all = append(all, v)
		}
	}
	return all, nil
}

// Describe returns the status of an app: from its bundle, or otherwise from its
// containers. Errors: ErrNotFound, ErrUnavailable.
func (b *Backend) Describe(ctx context.Context, id string) (*spec.Status, error) {
	s, err := b.Apps.Describe(ctx, id)
	if !errors.Is(err, backend.ErrNotFound) {
		return s, err
	}
	_, containers, err := b.foreignContainers(ctx, id)
	if err != nil {
		return nil, err
	}
	return statusOf(id, containers), nil
}

// foreignContainers returns the containers of an app of another home. Errors:
// ErrNotFound, ErrUnavailable.
func (b *Backend) foreignContainers(
	ctx context.Context, id string,
) (*client.Client, []container.Summary, error) {
	engine, err := b.connectFor(ctx, id)
	if err != nil && !b.Has(id) {
		return nil, nil, fmt.Errorf("app %s is not in this TORCHX_HOME: %w", id, err)
	}
	if err != nil {
		return nil, nil, err
	}
	containers, err := containersOf(ctx, engine, id)
	if err != nil {
		return nil, nil, err
	}
	if len(containers) == 0 {
		return nil, nil, fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
	}
	return engine, containers, nil
}

// statusOf returns the status of an app from its containers.
func statusOf(id string, containers []container.Summary) *spec.Status {
	s := &spec.Status{Handle: handleOf(id)}
	last := map[spec.Replica]spec.ReplicaStatus{}
	for _, c := range containers {
		r, attempt, ok := attemptOf(c.Labels)
		if old, exists := last[r]; !ok || exists && old.Attempt > attempt {
			continue
		}
		last[r] = replicaStatus(r, attempt, c)
	}
	for r, rs := range last {
		i := slices.IndexFunc(s.Roles, func(have spec.RoleStatus) bool { return have.Role == r.Role })
		if i < 0 {
			i, s.Roles = len(s.Roles), append(s.Roles, spec.RoleStatus{Role: r.Role})
		}
		s.Roles[i].Replicas = append(s.Roles[i].Replicas, rs)
		s.NumRestarts += rs.Attempt
	}
	slices.SortFunc(s.Roles, func(a, b spec.RoleStatus) int { return strings.Compare(a.Role, b.Role) })
	s.State = spec.Succeeded
	for _, role := range s.Roles {
		slices.SortFunc(role.Replicas, func(a, b spec.ReplicaStatus) int { return a.ID - b.ID })
		for _, r := range role.Replicas {
			s.State = combineState(s.State, r.State)
		}
	}
	return s
}

// combineState returns the state of an app after adding a replica. A replica that has not
// ended takes precedence, then one that failed.
func combineState(app, replica spec.State) spec.State {
	switch {
	case !app.Terminal() || replica == spec.Succeeded:
		return app
	case !replica.Terminal():
		return replica
	}
	return spec.Failed
}

// podmanStopped is Podman's state of a container that has just ended.
const podmanStopped = "stopped"

// exitStatus is the format of the engine's status of an ended container.
const exitStatus = "Exited (%d)"

func replicaStatus(r spec.Replica, attempt int, c container.Summary) spec.ReplicaStatus {
	created := time.Unix(c.Created, 0)
	rs := spec.ReplicaStatus{ID: r.ID, Role: r.Role, Attempt: attempt, Hostname: nameOf(c), StartedAt: &created}
	switch c.State {
	case container.StateCreated:
		rs.State, rs.StartedAt = spec.Submitted, nil
	case container.StateRunning:
		rs.State = spec.Running
	case container.StatePaused:
		rs.State, rs.Msg = spec.Running, pausedNote(rs.Hostname)
	case container.StateDead:
		rs.State = spec.Failed
	case container.StateExited, podmanStopped:
		code := 0
		if _, err := fmt.Sscanf(c.Status, exitStatus, &code); err != nil {
			code = spec.ExitNotStarted
		}
		rs.State, rs.ExitCode = spec.Succeeded, &code
		if code != 0 {
			rs.State = spec.Failed
		}
	default: // restarting, removing
		rs.State = spec.Pending
	}
	return rs
}

// pausedNote says how a paused container continues.
func pausedNote(name string) string {
	return fmt.Sprintf("paused: `docker unpause %s` continues it", name)
}

// Cancel stops an app. The containers of another home's app are stopped by the engine, all
// at the same time.
func (b *Backend) Cancel(ctx context.Context, id string, o backend.CancelOptions) error {
	if b.Has(id) {
		return b.Apps.Cancel(ctx, id, o)
	}
	engine, containers, err := b.foreignContainers(ctx, id)
	if errors.Is(err, backend.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var all errgroup.Group
	for _, c := range containers {
		switch {
		case c.State != container.StateRunning && c.State != container.StatePaused:
		case o.Force:
			all.Go(func() error { return engine.ContainerKill(ctx, c.ID, "SIGKILL") })
		default:
			all.Go(func() error { return engine.ContainerStop(ctx, c.ID, container.StopOptions{}) })
		}
	}
	if err := all.Wait(); err != nil {
		return fmt.Errorf("stop app %s: %w", id, plain(err))
	}
	return nil
}

// Wait returns the terminal status of an app. Errors: ErrNotFound, ErrUnavailable.
func (b *Backend) Wait(ctx context.Context, id string) (*spec.Status, error) {
	if b.Has(id) {
		return b.Apps.Wait(ctx, id)
	}
	for {
		s, err := b.Describe(ctx, id)
		if err != nil || s.State.Terminal() {
			return s, err
		}
		select {
		case <-ctx.Done():
			return s, ctx.Err()
		case <-time.After(foreignPollInterval):
		}
	}
}

// foreignPollInterval is how often the state of another home's app is polled, as in TorchX.
const foreignPollInterval = time.Second

// attemptOf returns the replica and the attempt from the labels of a container.
func attemptOf(labels map[string]string) (r spec.Replica, attempt int, ok bool) {
	id, err := strconv.Atoi(labels[LabelReplica])
	if err != nil {
		return r, 0, false
	}
	if text := labels[LabelAttempt]; text != "" {
		if attempt, err = strconv.Atoi(text); err != nil {
			return r, 0, false
		}
	}
	return spec.Replica{Role: labels[LabelRole], ID: id}, attempt, true
}

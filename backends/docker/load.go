package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"torchx/backends/supervised"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Load rebuilds a plan from its JSON form. Labels identify the replica of a container. A
// copy with another app ID gets its own names, labels and variables.
func (p planner) Load(
	_ context.Context, in backend.PlanInput, raw json.RawMessage,
) (*backend.Plan, error) {
	o, err := readOptions(in.Cfg)
	if err != nil {
		return nil, err
	}
	req := &Request{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(req); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %w", decodeError(err))
	}
	if err := req.check(in); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "%w", err)
	}
	req.rename(in)
	if err := req.checkNames(); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "%w", err)
	}
	req.OutputDir, req.defaultImage = supervised.LoadedOutputPath(in, req.OutputDir), in.DefaultImage
	return &backend.Plan{
		ID: in.ID, App: in.App.Clone(), Cfg: in.Cfg, Request: req,
		Warnings: append(unsupported(in.App, o), req.hostAccess()...), Launch: backend.Launch{Progress: in.Progress},
	}, nil
}

// check refuses a request that does not fit its app.
func (r *Request) check(in backend.PlanInput) error {
	switch {
	case r.AppID == "" || r.AppID != in.ID:
		return fmt.Errorf("request.app_id is %q, want %q", r.AppID, in.ID)
	case r.Network == "":
		return errors.New("request.network is empty: set the network that containers join")
	}
	want := map[spec.Replica]bool{}
	for i := range in.App.Roles {
		for id := range in.App.Roles[i].NumReplicas {
			want[spec.Replica{Role: in.App.Roles[i].Name, ID: id}] = true
		}
	}
	for i := range r.Containers {
		c := &r.Containers[i]
		if err := c.check(want); err != nil {
			return fmt.Errorf("request.containers[%d]: %w", i, err)
		}
	}
	for i := range in.App.Roles {
		for id := range in.App.Roles[i].NumReplicas {
			if role := in.App.Roles[i].Name; want[spec.Replica{Role: role, ID: id}] {
				return fmt.Errorf("request.containers has no container for replica %d of role %s", id, role)
			}
		}
	}
	return nil
}

// check refuses a container that cannot run or be identified. It marks its replica in
// want as found.
func (c *Container) check(want map[spec.Replica]bool) error {
	switch {
	case c.Config == nil:
		return errors.New("config is missing")
	case c.HostConfig == nil:
		return errors.New("host_config is missing")
	case c.Config.Image == "":
		return errors.New("config.Image is empty")
	case len(c.Config.Entrypoint)+len(c.Config.Cmd) == 0:
		return errors.New("config.Entrypoint and config.Cmd are empty: the program is missing")
	}
	for _, e := range c.Config.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" || strings.Contains(e, "\x00") {
			return fmt.Errorf("config.Env: %q is not NAME=VALUE", e)
		}
	}
	r, err := c.replica()
	if err != nil {
		return err
	}
	missing, known := want[r]
	if !known {
		return fmt.Errorf("the app has no replica %d of role %q", r.ID, r.Role)
	}
	if !missing {
		return fmt.Errorf("replica %d of role %s has more than one container", r.ID, r.Role)
	}
	want[r] = false
	return nil
}

// replica returns the replica by the labels of the container.
func (c *Container) replica() (spec.Replica, error) {
	role, text := c.Config.Labels[LabelRole], c.Config.Labels[LabelReplica]
	id, err := strconv.Atoi(text)
	if role == "" || err != nil || id < 0 {
		return spec.Replica{}, fmt.Errorf("config.Labels do not identify a replica: %s is %q, %s is %q", LabelRole, role, LabelReplica, text)
	}
	return spec.Replica{Role: role, ID: id}, nil
}

// rename gives containers that were planned with another app ID the names of this one, so
// that a copy is not mistaken for the original. Names that the user chose stay.
func (r *Request) rename(in backend.PlanInput) {
	names := newNames(in.ID, in.App)
	for i := range r.Containers {
		c := &r.Containers[i]
		replica, _ := c.replica() // checked before
		old := newNames(c.Config.Labels[LabelAppID], in.App)
		c.Config.Labels[LabelAppID] = in.ID
		swap := func(s *string, from, to string) {
			if *s == from || *s == "" {
				*s = to
			}
		}
		oldName, name := old.replica(replica.Role, replica.ID), names.replica(replica.Role, replica.ID)
		swap(&c.Name, oldName, name)
		swap(&c.Config.Hostname, oldName, name)
		for n, e := range c.Config.Env {
			key, value, _ := strings.Cut(e, "=")
			switch key {
			case spec.JobIDVariable:
				value = handleOf(in.ID)
			case spec.Rank0HostVariable:
				swap(&value, old.rank0(in.App), names.rank0(in.App))
			}
			c.Config.Env[n] = key + "=" + value
		}
	}
}

// checkNames refuses names that the engine would refuse, and duplicates.
func (r *Request) checkNames() error {
	taken := map[string]bool{}
	for i, c := range r.Containers {
		at := fmt.Sprintf("request.containers[%d].name", i)
		if c.Name == "" || c.Name != valid(c.Name) || strings.ContainsRune("-_.", rune(c.Name[0])) {
			return fmt.Errorf("%s: %q is not a valid name: use letters, digits, '_', '.' and '-', first a letter or digit", at, c.Name)
		}
		if taken[c.Name] {
			return fmt.Errorf("%s: %q is the name of another container", at, c.Name)
		}
		taken[c.Name] = true
	}
	return nil
}

// decodeError returns an error of encoding/json in the terms of JSON instead of Go.
func decodeError(err error) error {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s does not take a JSON %s", kind.Field, kind.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

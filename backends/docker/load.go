package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Load rebuilds a plan from its JSON form. Labels say which replica a container
// is; a copy under another app id gets names, labels and variables of its own.
func (p planner) Load(_ context.Context, in backend.PlanInput, raw json.RawMessage) (*backend.Plan, error) {
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
	req.adopt(in)
	if err := req.checkNames(); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "%w", err)
	}
	req.defaultImage = in.DefaultImage
	return &backend.Plan{
		ID: in.ID, App: in.App.Clone(), Cfg: in.Cfg, Request: req,
		Warnings: unsupported(in.App, o), Launch: backend.Launch{Progress: in.Progress},
	}, nil
}

// check refuses a request that does not fit its app.
func (r *Request) check(in backend.PlanInput) error {
	switch {
	case r.AppID == "" || r.AppID != in.ID:
		return fmt.Errorf("request.app_id is %q, want %q", r.AppID, in.ID)
	case r.Network == "":
		return errors.New("request.network is empty: containers find one another in it")
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
				return fmt.Errorf("request.containers has none for replica %d of role %s", id, role)
			}
		}
	}
	return nil
}

// check refuses a container that could not be run or told from others. It takes
// its replica out of want.
func (c *Container) check(want map[spec.Replica]bool) error {
	switch {
	case c.Config == nil:
		return errors.New("config is missing")
	case c.HostConfig == nil:
		return errors.New("host_config is missing")
	case c.Config.Image == "":
		return errors.New("config.Image is empty")
	case len(c.Config.Entrypoint)+len(c.Config.Cmd) == 0:
		return errors.New("config has neither Entrypoint nor Cmd: the program is missing")
	}
	for _, e := range c.Config.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" || strings.Contains(e, "\x00") {
			return fmt.Errorf("config.Env: %q is no NAME=VALUE", e)
		}
	}
	r, err := c.replica()
	if err != nil {
		return err
	}
	waited, known := want[r]
	if !known {
		return fmt.Errorf("the app has no replica %d of role %q", r.ID, r.Role)
	}
	if !waited {
		return fmt.Errorf("replica %d of role %s has a container already", r.ID, r.Role)
	}
	want[r] = false
	return nil
}

// replica returns the replica that the labels name.
func (c *Container) replica() (spec.Replica, error) {
	role, text := c.Config.Labels[LabelRole], c.Config.Labels[LabelReplica]
	id, err := strconv.Atoi(text)
	if role == "" || err != nil || id < 0 {
		return spec.Replica{}, fmt.Errorf("config.Labels must say which replica it is: %s is %q, %s is %q", LabelRole, role, LabelReplica, text)
	}
	return spec.Replica{Role: role, ID: id}, nil
}

// adopt gives containers that were planned under another id the names of this
// one, so that a copy does not pass for the app it was copied from. What the user
// chose stays.
func (r *Request) adopt(in backend.PlanInput) {
	mine := newNames(in.ID, in.App)
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
		was, is := old.of(replica.Role, replica.ID), mine.of(replica.Role, replica.ID)
		swap(&c.Name, was, is)
		swap(&c.Config.Hostname, was, is)
		for n, e := range c.Config.Env {
			name, value, _ := strings.Cut(e, "=")
			switch name {
			case spec.JobIDVariable:
				value = handleOf(in.ID)
			case spec.Rank0HostVariable:
				swap(&value, old.rank0(in.App), mine.rank0(in.App))
			}
			c.Config.Env[n] = name + "=" + value
		}
	}
}

// checkNames refuses names that the engine would refuse, or two alike.
func (r *Request) checkNames() error {
	taken := map[string]bool{}
	for i, c := range r.Containers {
		at := fmt.Sprintf("request.containers[%d].name", i)
		if c.Name == "" || c.Name != valid(c.Name) || strings.ContainsRune("-_.", rune(c.Name[0])) {
			return fmt.Errorf("%s: %q is no name: it has letters, digits, '_', '.' and '-', and begins with a letter or digit", at, c.Name)
		}
		if taken[c.Name] {
			return fmt.Errorf("%s: %q is another container's name", at, c.Name)
		}
		taken[c.Name] = true
	}
	return nil
}

// decodeError words an error of encoding/json in the terms of JSON.
func decodeError(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("%s does not take a JSON %s", kind.Field, kind.Value)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

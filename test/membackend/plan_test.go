package membackend

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Request is what Submit runs.
type Request struct {
	AppID string        `json:"app_id"`
	Roles []RoleRequest `json:"roles"`
}

// RoleRequest is one role with its replicas.
type RoleRequest struct {
	Name        string           `json:"name"`
	MinReplicas int              `json:"min_replicas"` // number that must run or succeed
	MaxRetries  int              `json:"max_retries"`  // of each replica, with any retry policy
	Replicas    []ReplicaRequest `json:"replicas"`
}

// ReplicaRequest is one program with its arguments and environment.
type ReplicaRequest struct {
	Args []string         `json:"args"`
	Env  spec.Map[string] `json:"env"`
}

// Keys of options that have an effect.
const (
	keyFailFast    = "fail_fast"
	keyGracePeriod = "grace_period"
)

// defaultGrace is the default grace period in seconds.
const defaultGrace = 10.0

// Options returns two options that have an effect, and one of each type for tests of -cfg.
func (b *Backend) Options() []backend.Option {
	return append([]backend.Option{
		{Key: keyFailFast, Risk: backend.Harmless, Type: backend.TypeBool, Default: true, Help: "stop the other replicas when one has failed for good"},
		{Key: keyGracePeriod, Risk: backend.Harmless, Type: backend.TypeFloat, Default: defaultGrace, Help: "seconds between asking a replica to stop and killing it"},
		{Key: "color", Risk: backend.Harmless, Type: backend.TypeStr, Default: "blue", Choices: []string{"blue", "green"}, Help: "no effect: one of a few texts"},
		{Key: "note", Risk: backend.Harmless, Type: backend.TypeStr, Help: "no effect: any text"},
		{Key: "count", Risk: backend.Harmless, Type: backend.TypeInt, Default: 1, Help: "no effect: a number"},
		{Key: "tags", Risk: backend.Harmless, Type: backend.TypeList, Help: "no effect: a list"},
		{Key: "labels", Risk: backend.Harmless, Type: backend.TypeMap, Help: "no effect: a map"},
	}, b.extra...)
}

// Plan resolves the macros of every replica.
func (b *Backend) Plan(_ context.Context, in backend.PlanInput) (*backend.Plan, error) {
	if err := b.checkCfg(in.Cfg); err != nil {
		return nil, err
	}
	if err := in.App.Validate(); err != nil {
		return nil, err
	}
	req := &Request{AppID: in.ID}
	for i := range in.App.Roles {
		req.Roles = append(req.Roles, planRole(in.ID, &in.App.Roles[i]))
	}
	return &backend.Plan{ID: in.ID, App: in.App.Clone(), Cfg: in.Cfg, Request: req, Warnings: warnings(in.App)}, nil
}

func planRole(id string, role *spec.Role) RoleRequest {
	r := RoleRequest{Name: role.Name, MinReplicas: role.NumReplicas, MaxRetries: role.MaxRetries}
	if role.MinReplicas != nil {
		r.MinReplicas = *role.MinReplicas
	}
	for n := range role.NumReplicas {
		m := spec.Macros{ImgRoot: role.Image, AppID: id, ReplicaID: strconv.Itoa(n), Rank0Env: spec.Rank0HostVariable}
		applied := m.Apply(*role)
		applied.Env.Set(spec.Rank0HostVariable, "localhost")
		r.Replicas = append(r.Replicas, ReplicaRequest{Args: append([]string{role.Entrypoint}, applied.Args...), Env: applied.Env})
	}
	return r
}

func warnings(app *spec.App) (all []string) {
	for i := range app.Roles {
		if len(app.Roles[i].Mounts) > 0 {
			all = append(all, fmt.Sprintf("backend %s has no mounts: those of role %s are ignored", Name, app.Roles[i].Name))
			break
		}
	}
	if app.Ordered() {
		all = append(all, fmt.Sprintf("backend %s starts all roles at once and ignores: depends_on and ready of role metadata", Name))
	}
	return all
}

// checkCfg refuses values that do not have the type of the option.
func (b *Backend) checkCfg(cfg backend.Config) error {
	for _, o := range b.Options() {
		v := cfg[o.Key]
		if v == nil {
			continue
		}
		if !hasType(v, o.Type) {
			return backend.Errorf(backend.ErrInvalidOption, "%s=%v: must be of type %s", o.Key, v, o.Type)
		}
		if s, ok := v.(string); ok && o.Choices != nil && !slices.Contains(o.Choices, s) {
			return backend.Errorf(backend.ErrInvalidOption, "%s=%s: must be one of %v", o.Key, s, o.Choices)
		}
	}
	if grace, ok := cfg[keyGracePeriod].(float64); ok && grace < 0 {
		return backend.Errorf(backend.ErrInvalidOption, "%s=%v: must not be negative", keyGracePeriod, grace)
	}
	return nil
}

func hasType(v any, t backend.OptionType) bool {
	switch v.(type) {
	case string:
		return t == backend.TypeStr
	case int:
		return t == backend.TypeInt
	case float64:
		return t == backend.TypeFloat
	case bool:
		return t == backend.TypeBool
	case []string:
		return t == backend.TypeList
	case map[string]string:
		return t == backend.TypeMap
	}
	return false
}

// Load rebuilds a plan from a request, which may be edited.
func (b *Backend) Load(_ context.Context, in backend.PlanInput, request json.RawMessage) (*backend.Plan, error) {
	if err := b.checkCfg(in.Cfg); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(request))
	d.DisallowUnknownFields()
	req := &Request{}
	if err := d.Decode(req); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %w", err)
	}
	if err := req.check(in); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "request: %w", err)
	}
	return &backend.Plan{ID: req.AppID, App: in.App.Clone(), Cfg: in.Cfg, Request: req, Warnings: warnings(in.App)}, nil
}

func (r *Request) check(in backend.PlanInput) error {
	if r.AppID == "" || in.ID != "" && r.AppID != in.ID {
		return fmt.Errorf("app_id is %q, want %q", r.AppID, in.ID)
	}
	if len(r.Roles) != len(in.App.Roles) {
		return fmt.Errorf("roles: there are %d, the app has %d", len(r.Roles), len(in.App.Roles))
	}
	for i, role := range r.Roles {
		if want := in.App.Roles[i].Name; role.Name != want {
			return fmt.Errorf("roles[%d].name is %q, want %q", i, role.Name, want)
		}
		if want := in.App.Roles[i].NumReplicas; len(role.Replicas) != want {
			return fmt.Errorf("roles[%d].replicas: there are %d, the app has %d", i, len(role.Replicas), want)
		}
		for n, replica := range role.Replicas {
			if len(replica.Args) == 0 || replica.Args[0] == "" {
				return fmt.Errorf("roles[%d].replicas[%d].args is empty: its first entry is the program", i, n)
			}
		}
	}
	return nil
}

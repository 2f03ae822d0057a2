package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"torchx/backends/supervised"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Load rebuilds a plan from its JSON form. It recomputes the paths of logs from the app ID
// and the log_dir option.
func (b *Backend) Load(
	ctx context.Context, in backend.PlanInput, raw json.RawMessage,
) (*backend.Plan, error) {
	o, err := readOptions(in)
	if err != nil {
		return nil, err
	}
	req := &Request{}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(req); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %w", decodeError(err))
	}
	l := newLayout(b.Home, o.logDir, in.ID)
	err = errors.Join(req.check(in), req.checkPaths(l))
	if err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "%w", firstError(err))
	}
	limits, err := limitWarnings(o, in.App)
	if err != nil {
		return nil, err
	}
	req.setPaths(in.ID, l)
	req.OutputDir = supervised.LoadedOutputPath(in, req.OutputDir)
	p := &backend.Plan{ID: in.ID, App: in.App.Clone(), Cfg: in.Cfg, Request: req, Warnings: append(unsupported(in, o), limits...)}
	if deviceRequest(in.App, o, req, nil) != nil {
		if missing := b.missingGPUs(ctx, requestedGPUs(in.App)); missing != "" {
			p.Warnings = append(p.Warnings, cudaVariable+" stays as planned: "+missing)
		}
	}
	return p, nil
}

// check refuses a request that does not fit its app.
func (r *Request) check(in backend.PlanInput) error {
	if r.AppID != in.ID {
		return fmt.Errorf("request.app_id is %q, want %q", r.AppID, in.ID)
	}
	if len(r.RoleParams) != len(in.App.Roles) {
		return fmt.Errorf("request.role_params has %d roles, the app has %d",
			len(r.RoleParams), len(in.App.Roles))
	}
	for i := range in.App.Roles {
		role := &in.App.Roles[i]
		params, ok := r.RoleParams.Get(role.Name)
		if !ok || len(params) != role.NumReplicas {
			return fmt.Errorf("request.role_params.%s has %d replicas, the app's role has %d",
				role.Name, len(params), role.NumReplicas)
		}
		for id, p := range params {
			if err := p.check(); err != nil {
				return fmt.Errorf("request.role_params.%s[%d]: %w", role.Name, id, err)
			}
		}
	}
	return nil
}

func (p *ReplicaParams) check() error {
	if len(p.Args) == 0 || p.Args[0] == "" {
		return fmt.Errorf("args is empty: its first entry is the program")
	}
	for _, a := range p.Args {
		if strings.Contains(a, "\x00") {
			return fmt.Errorf("args: %q has a NUL byte", a)
		}
	}
	for _, e := range p.Env {
		if e.Key == "" || strings.ContainsAny(e.Key, "=\x00") || strings.Contains(e.Value, "\x00") {
			return fmt.Errorf("env: invalid entry %q", e.Key)
		}
	}
	if info, err := os.Stat(p.Cwd); !filepath.IsAbs(p.Cwd) || err != nil || !info.IsDir() {
		return fmt.Errorf("cwd %q is not an existing absolute folder", p.Cwd)
	}
	return nil
}

// UnmarshalJSON refuses unknown fields: they would have no effect.
func (p *ReplicaParams) UnmarshalJSON(data []byte) error {
	type plain ReplicaParams
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(p))
}

// decodeError returns an error of encoding/json in the terms of JSON instead of Go.
func decodeError(err error) error {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	want := map[reflect.Kind]string{reflect.Slice: "a list", reflect.String: "a string", reflect.Int: "a whole number"}[kind.Type.Kind()]
	if want == "" {
		want = "an object"
	}
	return fmt.Errorf("%s: got %s, want %s", kind.Field, kind.Value, want)
}

// firstError returns the first part of a joined error, to keep it to one line.
func firstError(err error) error {
	if all, ok := err.(interface{ Unwrap() []error }); ok && len(all.Unwrap()) > 0 {
		return all.Unwrap()[0]
	}
	return err
}

// checkPaths refuses log paths that would be ignored, because the app ID and cfg.log_dir
// determine them. It accepts paths of the plan's old ID or home.
func (r *Request) checkPaths(l layout) error {
	old := layout{supervised.Layout{Dir: r.LogDir, User: l.User}}
	sibling := filepath.Dir(r.LogDir) == filepath.Dir(l.Dir)
	if !l.User {
		sibling = filepath.Base(filepath.Dir(r.LogDir)) == filepath.Base(filepath.Dir(l.Dir))
	}
	if !filepath.IsAbs(r.LogDir) || !sibling {
		return fmt.Errorf("request.log_dir is %q, but cfg.log_dir gives %q: change both, or only the last element", r.LogDir, l.Dir)
	}
	for _, e := range r.RoleParams {
		for id, p := range e.Value {
			dir := old.ReplicaDir(spec.Replica{Role: e.Key, ID: id}, 0)
			for name, path := range map[string]string{"stdout": p.Stdout, "stderr": p.Stderr} {
				if want := filepath.Join(dir, name+".log"); path != want && path != "" {
					return fmt.Errorf("request.role_params.%s[%d].%s is %q, want %q: cfg.log_dir determines the paths of logs", e.Key, id, name, path, want)
				}
			}
		}
	}
	return nil
}

// setPaths sets the app ID and the paths of logs.
func (r *Request) setPaths(id string, l layout) {
	old := r.LogDir
	r.AppID, r.LogDir = id, l.Dir
	r.RoleLogDirs = spec.Map[[]string]{}
	for _, e := range r.RoleParams {
		dirs := make([]string, len(e.Value))
		for n := range e.Value {
			key := spec.Replica{Role: e.Key, ID: n}
			dirs[n] = l.ReplicaDir(key, 0)
			e.Value[n].setPaths(id, dirs[n], old, l, key)
		}
		r.RoleLogDirs.Set(e.Key, dirs)
	}
}

func (p *ReplicaParams) setPaths(id, dir, oldLogDir string, l layout, key spec.Replica) {
	p.Stdout, p.Stderr = filepath.Join(dir, "stdout.log"), filepath.Join(dir, "stderr.log")
	p.Combined = ""
	// A copy with another ID must not be mistaken for the original.
	if _, ok := p.Env.Get(spec.JobIDVariable); ok {
		p.Env.Set(spec.JobIDVariable, handleOf(id))
	}
	for name, path := range map[string]string{
		spec.ErrorFileVariable: l.errorFile(key, 0), petLogVariable: l.elasticDir(key.Role),
	} {
		// Only paths that Plan set: a role's own path stays.
		if v, ok := p.Env.Get(name); !ok || oldLogDir != "" &&
			strings.HasPrefix(v, oldLogDir+string(filepath.Separator)) {
			p.Env.Set(name, path)
		}
	}
}

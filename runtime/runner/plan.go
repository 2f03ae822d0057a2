package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// PlanRequest is what to run, where and how.
type PlanRequest struct {
	Backend string    // canonical name or alias
	ID      string    // "": the app's name with a random part
	App     *spec.App // not changed
	// Injected says that App comes from a plan, with the variables that it adds.
	Injected bool
	// Cfg has the options, strongest first: the command line, then ConfigLayer. Options of
	// an alias and defaults come last.
	Cfg          []backend.Layer
	Env          spec.Map[string] // --env: added to every role
	Strict       bool             // refuse roles without resources
	DefaultImage string           // torchx.IMAGE
	Environ      []string         // environment that replicas inherit, "K=V"; nil: this process's
	Workspace    string           // see backend.PlanInput
	WorkspaceWhy string
	Progress     backend.Progress // reports slow work of planning and submitting; may be nil
	Sweep        *sweep.Plan      // see backend.PlanInput
	Tracking
	Provenance
}

// Tracking configures experiment trackers. TORCHX_PARENT_RUN_ID and TORCHX_TRACKERS in the
// caller's environment override it.
type Tracking struct {
	ParentRunID string
	Trackers    []config.Tracker
}

// Planned is an app that is ready to submit. Its JSON form, {app, cfg, request}, is the
// output of `run --dryrun --json` and the input of Load.
type Planned struct {
	Backend string // canonical name
	Plan    *backend.Plan
	// Warnings come from option parsing and the backend, one line each.
	Warnings []string
	// Recorded is called when the app has its record, before it starts; nil: nothing to do.
	Recorded func()
	awaited  []backend.After // apps that Submit waits for, see SettleAfter
	id       string          // that the backend was asked for; Plan.ID may have more, such as a namespace
	changed  bool            // pre_proc has changed the request
	Provenance
}

// Ref returns the key of the app that Submit will start.
func (p *Planned) Ref() history.AppKey { return history.AppKey{Backend: p.Backend, ID: p.Plan.ID} }

// App returns the app as planned, with added variables.
func (p *Planned) App() *spec.App { return p.Plan.App }

// planned is the JSON form of a Planned.
type planned struct {
	App     json.RawMessage `json:"app"`
	Cfg     json.RawMessage `json:"cfg"`
	Request json.RawMessage `json:"request"`
	After   []backend.After `json:"after,omitempty"`
	Origin  *origin         `json:"planned"`
}

// MarshalJSON writes {app, cfg, request, after, planned}, after only if there is one.
func (p *Planned) MarshalJSON() ([]byte, error) {
	all := planned{After: p.Plan.After}
	for _, part := range []struct {
		to    *json.RawMessage
		value any
	}{{&all.App, p.Plan.App}, {&all.Cfg, p.Plan.Cfg}, {&all.Request, p.Plan.Request}} {
		raw, err := marshal(part.value)
		if err != nil {
			return nil, err
		}
		*part.to = raw
	}
	var err error
	if all.Origin, err = newOrigin(p, all.App, all.Cfg, all.Request); err != nil {
		return nil, err
	}
	return marshal(all)
}

// marshal is json.Marshal without escaping <, > and &, which are common in commands.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// ConfigLayer returns a backend's options from .torchxconfig files: from the section of the
// name that the user chose, of the canonical name, and of other aliases. Errors:
// backend.ErrNotFound for an unknown backend.
func (r *Runner) ConfigLayer(c *config.Config, backendName string) (backend.Layer, error) {
	names, err := r.sections(backendName)
	if err != nil {
		return nil, err
	}
	return layerOf(c.Backend(names...)), nil
}

// HiddenLayers returns the values that stronger ones override in ConfigLayer, each in its
// own layer.
func (r *Runner) HiddenLayers(c *config.Config, backendName string) ([]backend.Layer, error) {
	names, err := r.sections(backendName)
	if err != nil {
		return nil, err
	}
	var layers []backend.Layer
	for _, v := range c.Hidden(names...) {
		layers = append(layers, layerOf([]config.Value{v}))
	}
	return layers, nil
}

// sections lists the sections of .torchxconfig files that can configure a backend.
func (r *Runner) sections(backendName string) ([]string, error) {
	alias, err := r.Backends.Canonical(backendName)
	if err != nil {
		return nil, err
	}
	return append([]string{backendName, alias.Backend}, r.Backends.AliasesOf(alias.Backend)...), nil
}

func layerOf(values []config.Value) backend.Layer {
	var layer backend.Layer
	for _, v := range values {
		value := backend.Value{Key: v.Key, Text: v.Text, Origin: v.Origin()}
		if v.Project {
			value.Source = backend.SourceProject
		}
		layer = append(layer, value)
	}
	return layer
}

// Plan determines what Submit would do. It changes nothing and contacts no server. Errors:
// backend.ErrNotFound (backend), backend.ErrInvalidOption, or one that describes a mistake
// in the app.
func (r *Runner) Plan(ctx context.Context, q PlanRequest) (*Planned, error) {
	target, err := r.resolve(q.Backend, q.Cfg)
	if err != nil {
		return nil, err
	}
	q.Source.ParentRunID = r.envOr(envParentRun, q.ParentRunID)
	number := r.nonZeroRandom() // drawn first, so that a fixed source always gives the same ID
	app, err := r.prepare(target.name, &q)
	if err != nil {
		return nil, err
	}
	in := backend.PlanInput{
		ID: cmp.Or(q.ID, AppID(app.Name, number)), App: app, Cfg: target.cfg, Cwd: q.Cwd, DefaultImage: q.DefaultImage,
		Workspace: q.Workspace, WorkspaceWhy: q.WorkspaceWhy, Environ: q.Environ, Progress: q.Progress,
		Sweep: q.Sweep,
	}
	if err := checkPlanLimits(in); err != nil {
		return nil, err
	}
	plan, err := target.backend.Plan(ctx, in)
	if err != nil {
		return nil, err
	}
	if plan.App == nil {
		plan.App = app
	}
	if plan.Cfg == nil {
		plan.Cfg = target.cfg
	}
	changed, err := applyPreProc(ctx, target.backend, in, plan)
	if err != nil {
		return nil, err
	}
	plan.Environ = q.Environ
	return &Planned{
		Backend: target.name, Plan: plan, Warnings: slices.Concat(target.warnings,
			minReplicasWarnings(plan.App), plan.Warnings),
		id: in.ID, changed: changed, Provenance: q.Provenance,
	}, nil
}

// target is where an app runs.
type target struct {
	name     string // canonical
	backend  backend.Backend
	cfg      backend.Config
	warnings []string // about options
}

// resolve returns a backend by its name or alias, with the values of its options.
func (r *Runner) resolve(backendName string, layers []backend.Layer) (*target, error) {
	alias, err := r.Backends.Canonical(backendName)
	if err != nil {
		return nil, err
	}
	b, err := r.Backends.Get(alias.Backend)
	if err != nil {
		return nil, err
	}
	layers = append(slices.Clone(layers), backend.DefaultsLayer(alias.Defaults, backendName))
	cfg, warnings, err := backend.Resolve(b.Options(), layers...)
	if err == nil {
		err = backend.Misspelled(b.Options(), layers...)
	}
	if err != nil {
		return nil, fmt.Errorf("backend %s: %w (see `torchx runopts %s`)",
			alias.Backend, err, alias.Backend)
	}
	return &target{alias.Backend, b, cfg, warnings}, nil
}

// prepare returns a validated copy of the app with its environment.
func (r *Runner) prepare(backendName string, q *PlanRequest) (*spec.App, error) {
	if q.App == nil {
		return nil, errors.New("no app to plan")
	}
	app := q.App.Clone()
	r.inject(app, backendName, q)
	if err := app.Validate(); err != nil {
		return nil, err
	}
	if q.Strict {
		for i := range app.Roles {
			if app.Roles[i].Resource.IsNull() {
				return nil, fmt.Errorf("role %s declares no resources, but --strict requires them: set Role(resource=...)", app.Roles[i].Name)
			}
		}
	}
	return app, nil
}

// checkPlanLimits bounds the size of the plan. It counts each replica, and the options for
// each, although some plans describe a role only once.
func checkPlanLimits(in backend.PlanInput) error {
	root := in.Cwd
	for i := range in.App.Roles {
		if image := in.App.Roles[i].Image; filepath.IsAbs(image) && len(image) > len(root) {
			root = image
		}
	}
	common := 0
	for _, v := range in.Cfg {
		common += len(fmt.Sprint(v))
	}
	return in.App.CheckPlanLimits(spec.Macros{
		ImgRoot: root, AppID: in.ID, ReplicaID: strconv.Itoa(spec.MaxReplicas), Rank0Env: spec.Rank0HostVariable,
	}, common)
}

// applyPreProc lets each role's pre_proc change the request of a plan, and reports whether one
// does.
func applyPreProc(
	ctx context.Context, b backend.Backend, in backend.PlanInput, p *backend.Plan,
) (changed bool, err error) {
	raw, err := preProc(b.Name(), in.App, p.Request)
	if raw == nil || err != nil {
		return false, err
	}
	in.ID = p.ID
	loaded, err := b.Load(ctx, in, raw)
	if err != nil {
		return false, fmt.Errorf("after pre_proc: %w", err)
	}
	p.ID, p.Request = loaded.ID, loaded.Request
	for _, w := range loaded.Warnings {
		if !slices.Contains(p.Warnings, w) {
			p.Warnings = append(p.Warnings, w)
		}
	}
	return true, nil
}

// preProc returns the request as changed by the roles' functions, nil if they change nothing.
func preProc(backendName string, app *spec.App, request any) ([]byte, error) {
	var before, raw []byte
	for i := range app.Roles {
		role := &app.Roles[i]
		if role.PreProc == nil {
			continue
		}
		var err error
		if raw == nil {
			if raw, err = marshal(request); err != nil {
				return nil, fmt.Errorf("encode the request for pre_proc of role %s: %w", role.Name, err)
			}
			before = raw
		}
		if raw, err = role.PreProc(backendName, raw); err != nil {
			return nil, fmt.Errorf("role %s: %w", role.Name, err)
		}
	}
	if raw == nil {
		return nil, nil
	}
	path, err := difference(before, raw)
	if path == "" && err == nil {
		return nil, nil
	}
	return raw, nil //nolint:nilerr // Load says what is wrong with it
}

// nonZeroRandom returns random bits: an ID made from 0 would have no random part.
func (r *Runner) nonZeroRandom() uint64 {
	for {
		if v := r.random(); v != 0 {
			return v
		}
	}
}

// AppID returns the ID of a new app: its name, with '-' for characters that are invalid in
// a handle or would break a line, and a random part.
func AppID(name string, v uint64) string {
	name = strings.Map(func(c rune) rune {
		if c == '/' || c == utf8.RuneError || unicode.IsSpace(c) || !unicode.IsPrint(c) {
			return '-'
		}
		return c
	}, name)
	return name + "-" + spec.RandomID(v, -1)
}

// minReplicasWarnings lists the roles whose min_replicas exceeds their number of replicas.
func minReplicasWarnings(app *spec.App) (warnings []string) {
	for i := range app.Roles {
		if r := &app.Roles[i]; r.MinReplicas != nil && *r.MinReplicas > r.NumReplicas {
			warnings = append(warnings, fmt.Sprintf("role %s has min_replicas %d, but only %d replicas: all of them must succeed",
				r.Name, *r.MinReplicas, r.NumReplicas))
		}
	}
	return warnings
}

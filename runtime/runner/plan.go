package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// PlanRequest says what to run, where and how.
type PlanRequest struct {
	Backend string    // canonical name or alias
	App     *spec.App // not changed
	// Cfg are the options as given, the strongest first: the command line, then
	// ConfigLayer. What an alias implies and the defaults come after them.
	Cfg          []backend.Layer
	Env          spec.Map[string] // --env: added to every role
	Strict       bool             // refuse roles that do not say what they need
	DefaultImage string           // torchx.IMAGE
	Environ      []string         // what replicas start from, "K=V"; nil: this process's own
	Workspace    string           // see backend.PlanInput
	WorkspaceWhy string
	Progress     backend.Progress // told of slow work of planning and submitting; may be nil
	Tracking
	Provenance
}

// Tracking is what tells experiment trackers of an app. Variables of the caller's
// environment win: TORCHX_PARENT_RUN_ID and TORCHX_TRACKERS.
type Tracking struct {
	ParentRunID string
	Trackers    []config.Tracker
}

// Planned is an app that is ready to be submitted. Its JSON form, {app, cfg,
// request}, is what `run --dryrun --json` prints and Load reads.
type Planned struct {
	Backend string // canonical name
	Plan    *backend.Plan
	// Warnings of option parsing and of the backend, one line each.
	Warnings []string
	Provenance
}

// Ref names the app that Submit will start.
func (p *Planned) Ref() history.AppKey { return history.AppKey{Backend: p.Backend, ID: p.Plan.ID} }

// App is the app as planned, with the variables that were added.
func (p *Planned) App() *spec.App { return p.Plan.App }

// planned is the JSON form of a Planned.
type planned struct {
	App     *spec.App      `json:"app"`
	Cfg     backend.Config `json:"cfg"`
	Request any            `json:"request"`
}

// MarshalJSON writes {app, cfg, request}.
func (p *Planned) MarshalJSON() ([]byte, error) {
	return marshal(planned{p.Plan.App, p.Plan.Cfg, p.Plan.Request})
}

// marshal is json.Marshal, but leaves <, > and & in commands as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// ConfigLayer returns the options of a backend that .torchxconfig files give: in
// the section of the name that the user chose, of the canonical name, and of
// other aliases. Errors: backends.ErrNotFound for an unknown backend.
func (r *Runner) ConfigLayer(c *config.Config, backendName string) (backend.Layer, error) {
	names, err := r.sections(backendName)
	if err != nil {
		return nil, err
	}
	return layerOf(c.Backend(names...)), nil
}

// HiddenLayers are the values that ConfigLayer leaves out because a stronger one
// hides them, each in a layer of its own.
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

// sections lists where .torchxconfig files can have options of a backend.
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

// Plan works out what Submit would do; it changes and contacts nothing. Errors:
// backends.ErrNotFound (backend), backends.ErrInvalidOption, or a plain one that
// says what is wrong with the app.
func (r *Runner) Plan(ctx context.Context, q PlanRequest) (*Planned, error) {
	alias, err := r.Backends.Canonical(q.Backend)
	if err != nil {
		return nil, err
	}
	b, err := r.Backends.Get(alias.Backend)
	if err != nil {
		return nil, err
	}
	layers := append(slices.Clone(q.Cfg), backend.DefaultsLayer(alias.Defaults, q.Backend))
	cfg, warnings, err := backend.Resolve(b.Options(), layers...)
	if err == nil {
		err = backend.Misspelled(b.Options(), layers...)
	}
	if err != nil {
		return nil, fmt.Errorf("backend %s: %w (see `torchx runopts %s`)", alias.Backend, err, alias.Backend)
	}
	number := r.nonZeroRandom() // drawn first: a fixed source gives the same id whatever else needs one
	app, err := r.prepare(alias.Backend, &q)
	if err != nil {
		return nil, err
	}
	plan, err := plan(ctx, b, backend.PlanInput{
		ID: AppID(app.Name, number), App: app, Cfg: cfg, Cwd: q.Cwd, DefaultImage: q.DefaultImage,
		Workspace: q.Workspace, WorkspaceWhy: q.WorkspaceWhy, Environ: q.Environ, Progress: q.Progress,
	})
	if err != nil {
		return nil, err
	}
	plan.Environ = q.Environ
	return &Planned{
		Backend: alias.Backend, Plan: plan, Warnings: slices.Concat(warnings, minReplicasWarnings(plan.App), plan.Warnings),
		Provenance: q.Provenance,
	}, nil
}

// prepare returns the app to plan: a checked copy with its variables.
func (r *Runner) prepare(backendName string, q *PlanRequest) (*spec.App, error) {
	if q.App == nil {
		return nil, errors.New("there is no app to plan")
	}
	app := q.App.Clone()
	r.inject(app, backendName, q)
	if err := app.Validate(); err != nil {
		return nil, err
	}
	if q.Strict {
		for i := range app.Roles {
			if app.Roles[i].Resource.IsNull() {
				return nil, fmt.Errorf("role %s does not say what it needs, which --strict refuses: set Role(resource=...)", app.Roles[i].Name)
			}
		}
	}
	return app, nil
}

// plan asks the backend, then lets each role's pre_proc change the request.
func plan(ctx context.Context, b backend.Backend, in backend.PlanInput) (*backend.Plan, error) {
	p, err := b.Plan(ctx, in)
	if err != nil {
		return nil, err
	}
	if p.App == nil {
		p.App = in.App
	}
	if p.Cfg == nil {
		p.Cfg = in.Cfg
	}
	raw, err := preProc(b.Name(), in.App, p.Request)
	if raw == nil || err != nil {
		return p, err
	}
	in.ID = p.ID
	changed, err := b.Load(ctx, in, raw)
	if err != nil {
		return nil, fmt.Errorf("after pre_proc: %w", err)
	}
	p.ID, p.Request = changed.ID, changed.Request
	for _, w := range changed.Warnings {
		if !slices.Contains(p.Warnings, w) {
			p.Warnings = append(p.Warnings, w)
		}
	}
	return p, nil
}

// preProc returns the request as the roles' functions made it, nil if no role has one.
func preProc(backendName string, app *spec.App, request any) ([]byte, error) {
	var raw []byte
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
		}
		if raw, err = role.PreProc(backendName, raw); err != nil {
			return nil, fmt.Errorf("pre_proc of role %s: %w", role.Name, err)
		}
	}
	return raw, nil
}

// nonZeroRandom returns random bits: an id made of 0 would have no random part.
func (r *Runner) nonZeroRandom() uint64 {
	for {
		if v := r.random(); v != 0 {
			return v
		}
	}
}

// AppID makes the id of a new app: its name, with what cannot stand in a handle
// or would break a line replaced by '-', and a random part.
func AppID(name string, v uint64) string {
	name = strings.Map(func(c rune) rune {
		if c == '/' || c == utf8.RuneError || unicode.IsSpace(c) || !unicode.IsPrint(c) {
			return '-'
		}
		return c
	}, name)
	return name + "-" + spec.RandomID(v, -1)
}

// minReplicasWarnings names the roles that want more replicas to be left than they have.
func minReplicasWarnings(app *spec.App) (warnings []string) {
	for i := range app.Roles {
		if r := &app.Roles[i]; r.MinReplicas != nil && *r.MinReplicas > r.NumReplicas {
			warnings = append(warnings, fmt.Sprintf("role %s has min_replicas %d, but only %d replicas: all of them are needed",
				r.Name, *r.MinReplicas, r.NumReplicas))
		}
	}
	return warnings
}

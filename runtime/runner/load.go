package runner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/secrets"
	"torchx/runtime/spec"
)

// LoadOptions has what the JSON form of a plan lacks.
type LoadOptions struct {
	// Backend is a name or alias; "" means the backend that the app was planned for,
	// which TORCHX_JOB_ID of its roles names.
	Backend string
	Cwd     string        // absolute folder the command runs in
	Environ []string      // environment that replicas inherit; nil: this process's
	Timeout time.Duration // overrides the time limit of the app; 0: the app's own
	// DefaultImage is torchx.IMAGE, the program's default.
	DefaultImage   string
	Progress       backend.Progress  // reports slow work; may be nil
	history.Labels                   // override those of `describe --json`
	DefaultTags    map[string]string // see Provenance
}

// labels returns the labels of an app whose JSON has some.
func (o *LoadOptions) labels(in history.Labels) history.Labels {
	tags := maps.Clone(in.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	maps.Copy(tags, o.Tags)
	return history.Labels{Tags: tags, Note: cmp.Or(o.Note, in.Note)}
}

// loaded mirrors planned with parts not decoded yet.
type loaded struct {
	App     *spec.App       `json:"app"`
	Cfg     map[string]any  `json:"cfg"`
	Request json.RawMessage `json:"request"`
	After   []backend.After `json:"after"`
	Origin  *origin         `json:"planned"`

	// Fields of `describe --json` besides App and Cfg.
	Handle      string     `json:"handle"`
	AppID       string     `json:"app_id"`
	Name        string     `json:"name"`
	SubmittedAt *time.Time `json:"submitted_at"`
	Component   string     `json:"component"`
	Args        []string   `json:"args"`
	Partial     bool       `json:"partial"`
	// Provenance and Imported are of the described app, not of the new one.
	Provenance  json.RawMessage `json:"provenance"`
	Imported    json.RawMessage `json:"imported"`
	ParentRunID string          `json:"parent_run_id"`
	RerunOf     string          `json:"rerun_of"` // not of the new app
	history.Labels
}

// Load decodes and validates the output of `run --dryrun --json`, edited or not. Errors:
// backend.ErrInvalidPlan, backend.ErrInvalidOption, backend.ErrExists if the app ID is
// taken, backend.ErrNotFound (backend).
func (r *Runner) Load(ctx context.Context, raw []byte, o LoadOptions) (*Planned, error) {
	in, err := decode(raw)
	if err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %w", err)
	}
	p, err := r.planLoaded(ctx, in, o)
	if err != nil {
		return nil, err
	}
	p.Plan.After = in.After
	return p, nil
}

// planLoaded returns the plan of a decoded one.
func (r *Runner) planLoaded(ctx context.Context, in *loaded, o LoadOptions) (*Planned, error) {
	edited, err := in.edits()
	if err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %w", err)
	}
	if o.Timeout > 0 {
		in.App.SetTimeout(o.Timeout)
	}
	name := o.Backend
	if name == "" {
		if name = plannedFor(in.App); name == "" {
			return nil, fmt.Errorf("read request: backend unknown, because no role's env has %s: choose it with -b: %w",
				envJobID, backend.ErrInvalidPlan)
		}
	}
	alias, err := r.Backends.Canonical(name)
	if err != nil {
		return nil, err
	}
	if in.Request == nil && in.Origin == nil {
		return r.planAgain(ctx, alias.Backend, in, o)
	}
	b, err := r.Backends.Get(alias.Backend)
	if err != nil {
		return nil, err
	}
	if edited.app || in.Request == nil {
		return r.replan(ctx, b, in, o, edited.request)
	}
	plan, err := load(ctx, b, in, o)
	if err != nil {
		return nil, err
	}
	if edited.request {
		plan.Notes = append(plan.Notes, "request was edited: it runs as it is, and the history has app as it was planned")
	}
	if err := r.checkFree(ctx, b, history.AppKey{Backend: alias.Backend, ID: plan.ID}); err != nil {
		return nil, err
	}
	plan.Environ = o.Environ
	return &Planned{Backend: alias.Backend, Plan: plan, Warnings: plan.Warnings, Provenance: Provenance{
		Source: history.Source{Cwd: o.Cwd, ParentRunID: r.envOr(envParentRun, "")}, Labels: o.labels(in.Labels), DefaultTags: o.DefaultTags,
	}}, nil
}

// planAgain plans the output of `describe --json` as a new app.
func (r *Runner) planAgain(
	ctx context.Context, backendName string, in *loaded, o LoadOptions,
) (*Planned, error) {
	for i := range in.App.Roles {
		for _, e := range in.App.Roles[i].Env {
			if strings.Contains(e.Value, secrets.Hidden) {
				return nil, backend.Errorf(backend.ErrInvalidPlan,
					"the value of %s is masked: print the app with `torchx describe --json --show-secrets`", e.Key)
			}
		}
		if slices.ContainsFunc(in.App.Roles[i].Args, func(a string) bool { return strings.Contains(a, secrets.Hidden) }) {
			return nil, backend.Errorf(backend.ErrInvalidPlan,
				"an argument of role %s is masked: print the app with `torchx describe --json --show-secrets`", in.App.Roles[i].Name)
		}
	}
	return r.Plan(ctx, r.requestOf(backendName, in, o))
}

// requestOf returns what to plan for a decoded app.
func (r *Runner) requestOf(backendName string, in *loaded, o LoadOptions) PlanRequest {
	return PlanRequest{
		Backend: backendName, App: in.App, Cfg: []backend.Layer{backend.JSONLayer(in.Cfg, "cfg")},
		DefaultImage: o.DefaultImage, Environ: o.Environ, Progress: o.Progress,
		Tracking:   Tracking{ParentRunID: in.ParentRunID},
		Provenance: Provenance{Source: history.Source{Component: in.Component, Args: in.Args, Cwd: o.Cwd}, Labels: o.labels(in.Labels), DefaultTags: o.DefaultTags},
	}
}

func decode(raw []byte) (*loaded, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	d.UseNumber()
	var in loaded
	if err := d.Decode(&in); err != nil {
		return nil, fmt.Errorf("not the JSON of `run --dryrun --json`: %s",
			oneLine(err, raw, d.InputOffset()))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	if string(in.Request) == "null" {
		in.Request = nil
	}
	if in.App == nil || in.Request == nil && in.Handle == "" && in.Origin == nil {
		return nil, errors.New(`"app" or "request" is missing: give the output of ` + "`run --dryrun --json` or `describe --json`")
	}
	return &in, nil
}

// oneLine adds the line number to a syntax error and describes empty input.
func oneLine(err error, raw []byte, offset int64) string {
	if errors.Is(err, io.EOF) {
		return "it is empty"
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	line := 1 + bytes.Count(raw[:min(int(offset), len(raw))], []byte("\n"))
	return fmt.Sprintf("line %d: %s", line, strings.TrimPrefix(err.Error(), "json: "))
}

// plannedFor returns the backend in TORCHX_JOB_ID, which Plan sets for all roles.
func plannedFor(app *spec.App) string {
	for i := range app.Roles {
		if id, ok := app.Roles[i].Env.Get(envJobID); ok {
			if name, _, found := strings.Cut(id, "://"); found {
				return name
			}
		}
	}
	return ""
}

// load checks app and options as Plan does and lets the backend decode the request.
func load(
	ctx context.Context, b backend.Backend, in *loaded, o LoadOptions,
) (*backend.Plan, error) {
	cfg, err := in.check(b)
	if err != nil {
		return nil, err
	}
	plan, err := b.Load(ctx, backend.PlanInput{
		ID: requestID(in.Request), App: in.App, Cfg: cfg, Cwd: o.Cwd, DefaultImage: o.DefaultImage,
		Environ: o.Environ, Progress: o.Progress, NewTimeout: o.Timeout > 0,
	}, in.Request)
	if err != nil {
		return nil, err
	}
	switch {
	case !spec.ValidAppID(plan.ID):
		return nil, backend.Errorf(backend.ErrInvalidPlan,
			"read request: app id %q is empty or has '/' or a control character", plan.ID)
	case plan.App == nil:
		plan.App = in.App
	}
	if plan.Cfg == nil {
		plan.Cfg = cfg
	}
	return plan, nil
}

// check returns the options of a decoded plan if they and its app are valid.
func (in *loaded) check(b backend.Backend) (backend.Config, error) {
	if err := in.App.Validate(); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %w", err)
	}
	cfg, unknown, err := backend.Resolve(b.Options(), backend.JSONLayer(in.Cfg, "cfg"))
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if len(unknown) > 0 {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %s",
			strings.TrimSuffix(strings.Replace(unknown[0], " is ignored", "", 1), "."))
	}
	return cfg, nil
}

// checkFree returns ErrExists if the app exists; if the backend is unavailable, Submit
// reports it.
func (r *Runner) checkFree(ctx context.Context, b backend.Backend, ref history.AppKey) error {
	if r.row(ctx, ref) == nil {
		if _, err := b.Describe(ctx, ref.ID); err != nil {
			return nil //nolint:nilerr // not found is what we want
		}
	}
	return backend.Errorf(backend.ErrExists,
		"app %s already exists: choose another app ID in the request", ref.Handle())
}

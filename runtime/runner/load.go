package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/secrets"
	"torchx/runtime/spec"
)

// LoadOptions says what the JSON form of a plan does not.
type LoadOptions struct {
	// Backend is a name or alias; "" takes the one for which the app was planned,
	// which the roles' TORCHX_JOB_ID names.
	Backend string
	Cwd     string   // absolute folder the command runs in
	Environ []string // what replicas start from; nil: this process's own
	// DefaultImage is torchx.IMAGE, the program's default.
	DefaultImage string
	Progress     backend.Progress // told of slow work; may be nil
}

// loaded mirrors planned with the parts still undecoded.
type loaded struct {
	App     *spec.App       `json:"app"`
	Cfg     map[string]any  `json:"cfg"`
	Request json.RawMessage `json:"request"`

	// What `describe --json` prints beside App and Cfg.
	Handle      string     `json:"handle"`
	AppID       string     `json:"app_id"`
	Name        string     `json:"name"`
	SubmittedAt *time.Time `json:"submitted_at"`
	Component   string     `json:"component"`
	Args        []string   `json:"args"`
	Partial     bool       `json:"partial"`
}

// Load reads what `run --dryrun --json` printed, edited or not, and validates
// it. Errors: backends.ErrInvalidPlan, backends.ErrInvalidOption,
// backends.ErrExists if the app id is taken, backends.ErrNotFound (backend).
func (r *Runner) Load(ctx context.Context, raw []byte, o LoadOptions) (*Planned, error) {
	in, err := decode(raw)
	if err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %w", err)
	}
	name := o.Backend
	if name == "" {
		if name = plannedFor(in.App); name == "" {
			return nil, fmt.Errorf("read request: no role's env has %s, so the backend is not known: choose it with -b: %w",
				envJobID, backend.ErrInvalidPlan)
		}
	}
	alias, err := r.Backends.Canonical(name)
	if err != nil {
		return nil, err
	}
	if in.Request == nil {
		return r.again(ctx, alias.Backend, in, o)
	}
	b, err := r.Backends.Get(alias.Backend)
	if err != nil {
		return nil, err
	}
	plan, err := load(ctx, b, in, o)
	if err != nil {
		return nil, err
	}
	if err := r.checkFree(ctx, b, history.AppKey{Backend: alias.Backend, ID: plan.ID}); err != nil {
		return nil, err
	}
	plan.Environ = o.Environ
	return &Planned{Backend: alias.Backend, Plan: plan, Warnings: plan.Warnings, Provenance: Provenance{Source: history.Source{Cwd: o.Cwd}}}, nil
}

// again plans what `describe --json` printed as a new app.
func (r *Runner) again(ctx context.Context, backendName string, in *loaded, o LoadOptions) (*Planned, error) {
	for i := range in.App.Roles {
		for _, e := range in.App.Roles[i].Env {
			if strings.Contains(e.Value, secrets.Hidden) {
				return nil, backend.Errorf(backend.ErrInvalidPlan,
					"the value of %s is masked: print it with `torchx describe --json --show-secrets`", e.Key)
			}
		}
		if slices.ContainsFunc(in.App.Roles[i].Args, func(a string) bool { return strings.Contains(a, secrets.Hidden) }) {
			return nil, backend.Errorf(backend.ErrInvalidPlan,
				"an argument of role %s is masked: print it with `torchx describe --json --show-secrets`", in.App.Roles[i].Name)
		}
	}
	return r.Plan(ctx, PlanRequest{
		Backend: backendName, App: in.App, Cfg: []backend.Layer{backend.JSONLayer(in.Cfg, "cfg")},
		DefaultImage: o.DefaultImage, Environ: o.Environ, Progress: o.Progress,
		Provenance: Provenance{Source: history.Source{Component: in.Component, Args: in.Args, Cwd: o.Cwd}},
	})
}

func decode(raw []byte) (*loaded, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	d.UseNumber()
	var in loaded
	if err := d.Decode(&in); err != nil {
		return nil, fmt.Errorf("not the JSON of `run --dryrun --json`: %s", oneLine(err, raw, d.InputOffset()))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON value")
	}
	if string(in.Request) == "null" {
		in.Request = nil
	}
	if in.App == nil || in.Request == nil && in.Handle == "" {
		return nil, errors.New(`"app" or "request" is missing: give what ` + "`run --dryrun --json` or `describe --json` printed")
	}
	return &in, nil
}

// oneLine adds the line to a syntax error and says what an empty input is.
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

// plannedFor is the backend in the TORCHX_JOB_ID that Plan gave the roles.
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

// load checks app and options as Plan does and has the backend read the request.
func load(ctx context.Context, b backend.Backend, in *loaded, o LoadOptions) (*backend.Plan, error) {
	if err := in.App.Validate(); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %w", err)
	}
	cfg, unknown, err := backend.Resolve(b.Options(), backend.JSONLayer(in.Cfg, "cfg"))
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if len(unknown) > 0 {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %s", strings.TrimSuffix(strings.Replace(unknown[0], " is ignored", "", 1), "."))
	}
	var named struct {
		AppID string `json:"app_id"`
	}
	_ = json.Unmarshal(in.Request, &named) // a backend without app_id finds the id in its objects
	plan, err := b.Load(ctx, backend.PlanInput{
		ID: named.AppID, App: in.App, Cfg: cfg, Cwd: o.Cwd, DefaultImage: o.DefaultImage,
		Environ: o.Environ, Progress: o.Progress,
	}, in.Request)
	if err != nil {
		return nil, err
	}
	switch {
	case !spec.ValidAppID(plan.ID):
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: app id %q is empty or has '/' or a control character", plan.ID)
	case plan.App == nil:
		plan.App = in.App
	}
	if plan.Cfg == nil {
		plan.Cfg = cfg
	}
	return plan, nil
}

// checkFree returns ErrExists if the app is known; a backend that cannot be asked now
// answers for itself at Submit.
func (r *Runner) checkFree(ctx context.Context, b backend.Backend, ref history.AppKey) error {
	if r.row(ctx, ref) == nil {
		if _, err := b.Describe(ctx, ref.ID); err != nil {
			return nil //nolint:nilerr // not found is what we want
		}
	}
	return backend.Errorf(backend.ErrExists, "app %s exists already: give it another id in the request", ref.Handle())
}

package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/history"
)

// origin says in the JSON form of a plan what it was at first, so that Load knows what was edited.
type origin struct {
	AppID   string `json:"app_id"` // without what the backend adds
	Cwd     string `json:"cwd"`
	App     string `json:"app"`     // hash of app and cfg
	Request string `json:"request"` // hash of request
	// PreProc is set if a function of the component has changed the request, which cannot be done again.
	PreProc bool `json:"pre_proc"`
}

// newOrigin returns the origin of a plan with the JSON of its parts.
func newOrigin(p *Planned, app, cfg, request []byte) (*origin, error) {
	edited, err := hash(app, cfg)
	if err != nil {
		return nil, err
	}
	made, err := hash(request)
	if err != nil {
		return nil, err
	}
	return &origin{p.id, p.Cwd, edited, made, p.changed}, nil
}

// edits says which parts of a plan were edited. Plans without an origin count as not edited.
type edits struct{ app, request bool }

func (in *loaded) edits() (e edits, err error) {
	if in.Origin == nil {
		return e, nil
	}
	app, err := marshal(in.App)
	if err != nil {
		return e, err
	}
	cfg, err := marshal(in.Cfg)
	if err != nil {
		return e, err
	}
	now, err := hash(app, cfg)
	if err != nil {
		return e, err
	}
	e.app = now != in.Origin.App
	if in.Request == nil {
		return e, nil // it was removed
	}
	request, err := hash(in.Request)
	e.request = request != in.Origin.Request
	return e, err
}

// replan plans the edited app of a plan again, under its ID. If the request was edited, too, it
// must be what the app leads to. Errors: backend.ErrInvalidPlan, backend.ErrExists.
func (r *Runner) replan(
	ctx context.Context, b backend.Backend, in *loaded, o LoadOptions, requestEdited bool,
) (*Planned, error) {
	if in.Origin.PreProc {
		return nil, backend.Errorf(backend.ErrInvalidPlan,
			"app was edited, but pre_proc of the component has changed the request, which follows from app: edit the component, or only request")
	}
	if _, err := in.check(b); err != nil {
		return nil, err
	}
	o.Cwd = cmp.Or(in.Origin.Cwd, o.Cwd)
	q := r.requestOf(b.Name(), in, o)
	q.Injected = true
	q.ID = cmp.Or(requestID(in.Request), in.Origin.AppID)
	p, err := r.Plan(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := r.checkFree(ctx, b, history.AppKey{Backend: p.Backend, ID: p.Plan.ID}); err != nil {
		return nil, err
	}
	if !requestEdited {
		p.Plan.Notes = append(p.Plan.Notes, "the request is made anew from the edited app")
		return p, nil
	}
	made, err := marshal(p.Plan.Request)
	if err != nil {
		return nil, err
	}
	path, err := difference(made, in.Request)
	if err == nil && path != "" {
		err = backend.Errorf(backend.ErrInvalidPlan,
			"app and request were both edited and disagree at %s: edit one of them, or remove request, which is then made from app", path)
	}
	return p, err
}

// requestID returns the app ID in a request; "" if its backend finds it in its objects.
func requestID(request []byte) string {
	var named struct {
		AppID string `json:"app_id"`
	}
	_ = json.Unmarshal(request, &named)
	return named.AppID
}

// hash returns the SHA-256 of JSON values in a form that layout, the order of keys and the
// spelling of numbers do not change.
func hash(parts ...[]byte) (string, error) {
	h := sha256.New()
	for _, raw := range parts {
		v, err := canonical(raw)
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(v) // sorts keys
		if err != nil {
			return "", err
		}
		h.Write(append(text, '\n'))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// canonical decodes JSON with all numbers in one spelling.
func canonical(raw []byte) (any, error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return respell(v), nil
}

func respell(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
		}
	case []any:
		for i := range v {
			v[i] = respell(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = respell(v[key])
		}
	}
	return v
}

// difference returns the path of the first difference of two requests; "" if there is none.
func difference(made, given []byte) (string, error) {
	a, err := canonical(made)
	if err != nil {
		return "", err
	}
	b, err := canonical(given)
	if err != nil {
		return "", err
	}
	return firstDifference("request", a, b), nil
}

// firstDifference returns the path of the first difference below path.
func firstDifference(path string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok {
			return path
		}
		keys := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(other)))
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			if found := firstDifference(path+"."+key, a[key], other[key]); found != "" {
				return found
			}
		}
		return ""
	case []any:
		other, ok := b.([]any)
		if !ok || len(a) != len(other) {
			return path
		}
		for i := range a {
			if found := firstDifference(fmt.Sprintf("%s[%d]", path, i), a[i], other[i]); found != "" {
				return found
			}
		}
		return ""
	}
	if a != b {
		return path
	}
	return ""
}

package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"torchx/backends/kubernetes/label"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Load rebuilds a plan from its JSON form. The plan's id is in its objects, so that
// of the input is not looked at; see adopt. Errors: ErrInvalidPlan, ErrInvalidOption.
func (p planner) Load(_ context.Context, in backend.PlanInput, raw json.RawMessage) (*backend.Plan, error) {
	o, err := readOptions(in.Cfg)
	if err != nil {
		return nil, err
	}
	req := &Request{}
	if err := strict(raw, req); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %w", err)
	}
	if req.form() == "" {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "request.objects: the first must be a Job of Volcano, a JobSet or a Job: it is the app")
	}
	id := req.adopt()
	if strings.HasSuffix(id, ":") {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "request.objects[0].metadata: the label %s must name the app", label.Instance)
	}
	if err := req.check(in.App); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "%w", err)
	}
	common, ofForm := warn(in.App, req.form(), o)
	return &backend.Plan{
		ID: id, App: in.App.Clone(), Cfg: in.Cfg, Request: req,
		Warnings: append(common, ofForm...), Launch: backend.Launch{Progress: in.Progress},
	}, nil
}

// UnmarshalJSON reads a request strictly: a misspelt field is an error.
func (r *Request) UnmarshalJSON(data []byte) error {
	var parts struct {
		Objects      []json.RawMessage      `json:"objects"`
		ImagesToPush map[string]PushedImage `json:"images_to_push"`
	}
	if err := strict(data, &parts); err != nil {
		return err
	}
	*r = Request{ImagesToPush: parts.ImagesToPush}
	if r.ImagesToPush == nil {
		r.ImagesToPush = map[string]PushedImage{}
	}
	for i, part := range parts.Objects {
		o, err := readObject(part)
		if err != nil {
			return fmt.Errorf("objects[%d]: %w", i, err)
		}
		r.Objects = append(r.Objects, o)
	}
	return nil
}

// readObject decodes an object by its apiVersion and kind.
func readObject(data []byte) (Object, error) {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return nil, errors.New("it is no object")
	}
	h := head{}
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, decodeError(err)
	}
	var o Object
	switch h.TypeMeta {
	case typeVolcano:
		o = &VolcanoJob{}
	case typeJobSet:
		o = &JobSet{}
	case typeJob:
		o = &Job{}
	case typeService:
		o = &Service{}
	default:
		if h.APIVersion == "" || h.Kind == "" {
			return nil, errors.New("apiVersion or kind is missing")
		}
		o = &Foreign{}
	}
	return o, strict(data, o)
}

// form is that of the main object, "" if it is none that runs an app.
func (r *Request) form() form {
	if len(r.Objects) > 0 {
		switch r.Objects[0].(type) {
		case *VolcanoJob:
			return formVolcano
		case *JobSet:
			return formJobSet
		case *Job:
			return formJob
		}
	}
	return ""
}

// check refuses a request that does not fit its app.
func (r *Request) check(app *spec.App) error {
	namespace := r.Objects[0].Meta().Namespace
	found := make([]int, len(app.Roles)) // replicas
	taken := map[string]bool{}
	for i, o := range r.Objects {
		at, meta := fmt.Sprintf("request.objects[%d]", i), o.Meta()
		if problems := validation.IsDNS1123Subdomain(meta.Name); len(problems) > 0 {
			return fmt.Errorf("%s.metadata.name %q: %s", at, meta.Name, problems[0])
		}
		if len(meta.Name) > maxName {
			return fmt.Errorf("%s.metadata.name %q: must be no more than %d bytes", at, meta.Name, maxName)
		}
		if meta.Namespace == "" || meta.Namespace != namespace {
			return fmt.Errorf("%s.metadata.namespace is %q: all objects must be in the namespace of the first", at, meta.Namespace)
		}
		key := fmt.Sprint(o.Type(), meta.Name)
		if taken[key] {
			return fmt.Errorf("%s: there is a %s %s already", at, o.Type().Kind, meta.Name)
		}
		taken[key] = true
		for n, t := range templates(o) {
			role, err := t.check(app)
			if err != nil {
				return fmt.Errorf("%s: pods %d: %w", at, n, err)
			}
			found[role] += t.replicas
		}
	}
	for i, n := range found {
		if role := &app.Roles[i]; n != role.NumReplicas {
			return fmt.Errorf("request.objects has %d replicas of role %s, the app %d", n, role.Name, role.NumReplicas)
		}
	}
	return nil
}

// replicated are pods and how many of them there are.
type replicated struct {
	*template
	replicas int
}

// templates are those of an object.
func templates(o Object) (all []replicated) {
	counts := func(n *int32) int { return max(1, int(value(n))) }
	switch o := o.(type) {
	case *VolcanoJob:
		for i := range o.Spec.Tasks {
			t := &o.Spec.Tasks[i]
			all = append(all, replicated{&t.Template, int(t.Replicas)})
		}
	case *JobSet:
		for i := range o.Spec.ReplicatedJobs {
			j := &o.Spec.ReplicatedJobs[i]
			all = append(all, replicated{&j.Template.Spec.Template, int(j.Replicas) * counts(j.Template.Spec.Completions)})
		}
	case *Job:
		all = append(all, replicated{&o.Spec.Template, counts(o.Spec.Completions)})
	}
	return all
}

// check returns the index of the role that the labels name.
func (t replicated) check(app *spec.App) (role int, err error) {
	text := t.Labels[label.RoleIndex]
	role, err = strconv.Atoi(text)
	if err != nil || role < 0 || role >= len(app.Roles) {
		return 0, fmt.Errorf("the label %s is %q, want the index of one of the app's %d roles", label.RoleIndex, text, len(app.Roles))
	}
	if want := label.Value(app.Roles[role].Name); t.Labels[label.Role] != want {
		return 0, fmt.Errorf("the label %s is %q, but role %d is %q", label.Role, t.Labels[label.Role], role, want)
	}
	return role, checkPod(t.template)
}

// Package kubernetes runs apps on a Kubernetes cluster. A plan is the objects that
// would be made there; making one contacts nobody.
package kubernetes

import (
	"context"
	"fmt"
	"reflect"
	"strconv"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// planner plans apps. It contacts nobody.
type planner struct {
	version string // of this program, for the label
}

// Plan works out the objects of an app. All it looks at outside its input are the
// files of workspaces and overlays. The plan's id is namespace:name. With
// gang=auto it is one for Volcano: PlanFor makes another when the cluster is known.
func (p planner) Plan(ctx context.Context, in backend.PlanInput) (*backend.Plan, error) {
	return p.PlanFor(ctx, in, nil)
}

// PlanFor is Plan for a cluster that has the installed gang forms: gang=auto then
// takes one of them. The plan's id does not depend on the form.
func (p planner) PlanFor(ctx context.Context, in backend.PlanInput, installed []form) (*backend.Plan, error) {
	o, err := readOptions(in.Cfg)
	if err != nil {
		return nil, err
	}
	plan := &backend.Plan{App: in.App.Clone(), Cfg: in.Cfg, Launch: backend.Launch{Progress: in.Progress}}
	b := &builder{
		planner: p, in: in, options: o, form: choose(in.App, o, installed),
		names: newNames(in.ID, in.App),
	}
	plan.ID = appID(o.namespace, b.names.app)
	if b.images, err = planImages(ctx, plan, in, o); err != nil {
		return nil, err
	}
	b.say(plan, installed)
	objects, err := b.build()
	if err != nil {
		return nil, err
	}
	plan.Request = &Request{
		Objects: objects, ImagesToPush: b.images.push,
		builder: b, trees: b.images.trees, bases: b.images.bases,
	}
	return plan, nil
}

// builder makes the objects of one plan.
type builder struct {
	planner
	in       backend.PlanInput
	options  options
	form     form
	names    names
	images   images
	overlays map[string]map[string]any // by the file they were read from
	first    string                    // name of the unit that replica 0 of the first role is in
}

// build returns the objects, the main one first.
func (b *builder) build() ([]Object, error) {
	units, err := b.units()
	if err != nil {
		return nil, err
	}
	switch b.form {
	case formJobSet:
		return b.jobSet(units), nil
	case formJob:
		return b.jobs(units), nil
	default:
		return b.volcano(units), nil
	}
}

// unit is one template of pods: of one replica, or of all replicas of a role.
type unit struct {
	role    int // index
	replica int // of one replica
	count   int // replicas that share the template
	name    string
	*template
}

// shared tells whether replicas learn their number by the completion index.
func (u unit) shared() bool { return u.count > 1 }

// units splits the app into templates.
func (b *builder) units() ([]unit, error) {
	var all []unit
	for i := range b.in.App.Roles {
		role := &b.in.App.Roles[i]
		if err := checkMounts(role); err != nil {
			return nil, err
		}
		units := b.roleUnits(i)
		if i == 0 {
			b.first = units[0].name
		}
		for _, u := range units {
			var err error
			if u.template, err = b.template(u); err != nil {
				return nil, err
			}
			all = append(all, u)
		}
	}
	return all, nil
}

// roleUnits are one for each replica where the form has it so, or where replicas
// differ in more than arguments and variables.
func (b *builder) roleUnits(i int) []unit {
	role := &b.in.App.Roles[i]
	if b.form != formVolcano && role.NumReplicas > 1 && !b.differ(role) {
		return []unit{{role: i, count: role.NumReplicas, name: b.names.roles[i]}}
	}
	units := make([]unit, role.NumReplicas)
	for id := range units {
		units[id] = unit{role: i, replica: id, count: 1, name: b.names.replica(i, id)}
	}
	if b.form != formVolcano && role.NumReplicas == 1 {
		units[0].name = b.names.roles[i]
	}
	return units
}

// differ tells whether the overlay of a role is another one for each replica.
func (b *builder) differ(role *spec.Role) bool {
	of := func(id string) [2]any {
		m := spec.Macros{AppID: b.names.app, ReplicaID: id}
		r := m.Apply(spec.Role{Metadata: pick(role.Metadata)})
		a := m.Apply(spec.Role{Metadata: pick(b.in.App.Metadata)})
		return [2]any{r.Metadata, a.Metadata}
	}
	return !reflect.DeepEqual(of("0"), of("1"))
}

// pick is the part of metadata that is this backend's.
func pick(metadata map[string]any) map[string]any {
	if v, ok := metadata[overlayKey]; ok {
		return map[string]any{overlayKey: v}
	}
	return nil
}

// macros are those of a unit.
func (b *builder) macros(u unit) spec.Macros {
	id := index
	if !u.shared() {
		id = strconv.Itoa(u.replica)
	}
	return spec.Macros{AppID: b.names.app, ReplicaID: id, Rank0Env: b.rank0Env(u)}
}

// say warns of what the plan cannot do. With gang=auto and no cluster asked, what
// follows from the form may come out otherwise.
func (b *builder) say(plan *backend.Plan, installed []form) {
	common, ofForm := warn(b.in.App, b.form, b.options)
	plan.Warnings = append(plan.Warnings, common...)
	if b.options.gang == formAuto && installed == nil {
		plan.DecidedAtSubmit = append(plan.DecidedAtSubmit, fmt.Sprintf("gang=auto: planned for %s; a run takes what the cluster has", b.form))
		plan.DecidedAtSubmit = append(plan.DecidedAtSubmit, ofForm...)
		return
	}
	plan.Warnings = append(plan.Warnings, ofForm...)
}

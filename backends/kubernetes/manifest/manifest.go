// Package manifest turns an app into the Kubernetes objects to create. It contacts no
// cluster: besides its input it reads only the files of workspaces and overlays.
//
//	spec.App, -cfg ─► Planner.Plan ─► builder ─► Request{Objects} ─► JSON, or the cluster
//	                                  one pod template (unit) per replica or role,
//	                                  wrapped in a VolcanoJob, a JobSet or Jobs (Form)
//	plan as JSON ───► Planner.Load ─► Request
//
// In the other direction, Record is the app in an annotation of the main object, and Rebuild
// reads an app back from its pod templates.
package manifest

import (
	"context"
	"fmt"
	"reflect"
	"strconv"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Planner plans apps.
type Planner struct {
	Version string // of this program, for the label of objects
}

// Plan returns a plan whose request has the objects of an app. The plan's ID is
// namespace:name. With gang=auto it is a plan for Volcano until Request.ResolveForm.
func (p Planner) Plan(ctx context.Context, in backend.PlanInput) (*backend.Plan, error) {
	return p.PlanFor(ctx, in, nil)
}

// PlanFor is Plan for a cluster with the installed forms; gang=auto selects one of them. The
// plan's ID does not depend on the form.
func (p Planner) PlanFor(
	ctx context.Context, in backend.PlanInput, installed []Form,
) (*backend.Plan, error) {
	o, err := ReadOptions(in.Cfg)
	if err == nil {
		err = checkSidecars(in.App)
	}
	if err != nil {
		return nil, err
	}
	plan := &backend.Plan{App: in.App.Clone(), Cfg: in.Cfg, Launch: backend.Launch{Progress: in.Progress}}
	b := &builder{
		version: p.Version, in: in, options: o, form: choose(in.App, o, installed),
		names: newNames(in.ID, in.App),
	}
	plan.ID = AppID(o.Namespace, b.names.app)
	if b.images, err = planImages(ctx, plan, in, o); err != nil {
		return nil, err
	}
	plan.Warnings = append(plan.Warnings, appWarnings(in.App)...)
	if forForm := formWarnings(in.App, b.form, o); o.gang == FormAuto && installed == nil {
		plan.DecidedAtSubmit = append(plan.DecidedAtSubmit,
			fmt.Sprintf("gang=auto: planned for %s; a run uses what the cluster has", b.form))
		plan.DecidedAtSubmit = append(plan.DecidedAtSubmit, forForm...)
	} else {
		plan.Warnings = append(plan.Warnings, forForm...)
	}
	objects, err := b.build()
	if err != nil {
		return nil, err
	}
	plan.Warnings = append(plan.Warnings, hostAccess(in.App, objects)...)
	plan.Request = &Request{
		Objects: objects, ImagesToPush: b.images.push,
		builder: b, trees: b.images.trees, bases: b.images.bases,
	}
	return plan, nil
}

// builder builds the objects of one plan.
type builder struct {
	version  string
	in       backend.PlanInput
	options  Options
	form     Form
	names    names
	images   images
	overlays map[string]overlayFile // by path or URI, as written
	// fromFiles is the total size of overlay files in bytes, counted once per pod template.
	fromFiles int
	first     string // name of the unit of replica 0 of the first role
	// crowded means that Volcano's plugin svc could not list the pods of a task in a variable.
	crowded bool
}

// build returns the objects, the main one first.
func (b *builder) build() ([]Object, error) {
	units, err := b.units()
	if err != nil {
		return nil, err
	}
	switch b.form {
	case FormJobSet:
		return b.jobSet(units), nil
	case FormJob:
		objects := b.jobs(units)
		return objects, (&Request{Objects: objects}).CheckKueue(b.options.kueueQueue)
	default:
		return b.volcano(units), nil
	}
}

// unit is a pod template for one replica, or for all replicas of a role.
type unit struct {
	role    int // index
	replica int // if count is 1
	count   int // replicas that share the template
	name    string
	*Template
}

// shared reports whether several replicas share the template. They get their number from
// the index that the controller gives their pod.
func (u unit) shared() bool { return u.count > 1 }

// units splits the app into pod templates.
func (b *builder) units() (all []unit, err error) {
	if err := b.checkOrder(); err != nil {
		return nil, err
	}
	b.crowded = b.isCrowded()
	for i := range b.in.App.Roles {
		if err := checkMounts(&b.in.App.Roles[i]); err != nil {
			return nil, err
		}
		if err := b.options.checkGPU(&b.in.App.Roles[i]); err != nil {
			return nil, err
		}
		units := b.roleUnits(i)
		if i == 0 {
			b.first = units[0].name
		}
		for _, u := range units {
			if u.Template, err = b.template(u); err != nil {
				return nil, err
			}
			all = append(all, u)
		}
	}
	return all, nil
}

// roleUnits returns one unit for the role, or one per replica in a small Volcano Job and if
// replicas differ in more than arguments and variables.
func (b *builder) roleUnits(i int) []unit {
	role := &b.in.App.Roles[i]
	isSmall := b.form == FormVolcano && b.replicas() < manyReplicas
	if !isSmall && (role.NumReplicas == 1 || !b.overlaysDiffer(role)) {
		return []unit{{role: i, count: role.NumReplicas, name: b.names.roles[i]}}
	}
	units := make([]unit, role.NumReplicas)
	for id := range units {
		units[id] = unit{role: i, replica: id, count: 1, name: b.names.replica(i, id)}
	}
	return units
}

// manyReplicas is the number of an app's replicas from which a Volcano Job has one task per
// role. A smaller app has one task per replica, as in TorchX. A task takes 2.7 KB of the
// 1.5 MB that etcd stores, and Volcano gives every pod two variables per task: the variables of
// 1,000 tasks are 238 KB in each of 1,000 pods.
const manyReplicas = 8

// isCrowded reports whether the names of a role's pods, which Volcano's plugin svc puts into one
// variable, are longer than a variable can be.
func (b *builder) isCrowded() bool {
	for i := range b.in.App.Roles {
		for _, u := range b.roleUnits(i)[:1] {
			if b.form == FormVolcano && hostsBytes(b.names.app, u.name, u.count) > maxVariable {
				return true
			}
		}
	}
	return false
}

// replicas returns the number of the app's replicas.
func (b *builder) replicas() (n int) {
	for i := range b.in.App.Roles {
		n += b.in.App.Roles[i].NumReplicas
	}
	return n
}

// overlaysDiffer reports whether the overlays of a role depend on the replica.
func (b *builder) overlaysDiffer(role *spec.Role) bool {
	of := func(id string) [2]any {
		m := spec.Macros{AppID: b.names.app, ReplicaID: id}
		r := m.Apply(spec.Role{Metadata: overlayOf(role.Metadata)})
		a := m.Apply(spec.Role{Metadata: overlayOf(b.in.App.Metadata)})
		return [2]any{r.Metadata, a.Metadata}
	}
	return !reflect.DeepEqual(of("0"), of("1"))
}

// macros returns the values of a unit's macros.
func (b *builder) macros(u unit) spec.Macros {
	id := index
	if !u.shared() {
		id = strconv.Itoa(u.replica)
	}
	return spec.Macros{AppID: b.names.app, ReplicaID: id, Rank0Env: b.rank0Env(u)}
}

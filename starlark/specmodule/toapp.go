package specmodule

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"go.starlark.net/starlark"

	"torchx/runtime/spec"
)

// ToApp returns the app that a component returned. It shares nothing with v except PreProc, which
// calls its Starlark function through Options.Call. It stops with an error as soon as the app
// exceeds the limits of spec.Meter, since one Starlark list may be used 100,000 times.
func ToApp(v starlark.Value) (*spec.App, error) {
	r, ok := v.(*record)
	switch {
	case v == starlark.None:
		return nil, errors.New("returned None: add `return specs.AppDef(…)`")
	case !ok || r.kind != kindApp:
		return nil, fmt.Errorf("component returned %s, want specs.AppDef", v.Type())
	}
	return r.toApp()
}

func (r *record) toSpec() (any, error) {
	switch r.kind {
	case kindApp:
		return r.toApp()
	case kindRole:
		return r.toRole(), nil
	case kindResource:
		return r.toResource(), nil
	case kindWorkspace:
		return spec.Workspace{Projects: r.strings("projects")}, nil
	}
	return r.toMount(), nil
}

func (r *record) toApp() (*spec.App, error) {
	app := &spec.App{
		Name: r.str("name"), Roles: []spec.Role{}, Metadata: r.goMap("metadata"),
	}
	meter := spec.Meter{}
	if err := meter.AddMetadata(app.Metadata); err != nil {
		return nil, err
	}
	for v := range r.list("roles") {
		role := v.(*record).toRole()
		if err := meter.Add(&role); err != nil {
			return nil, err
		}
		app.Roles = append(app.Roles, role)
	}
	return app, nil
}

func (r *record) toRole() spec.Role {
	role := spec.NewRole(r.str("name"), r.str("image"))
	if n, ok := r.get("min_replicas").(starlark.Int); ok {
		minimum := toInt(n)
		role.MinReplicas = &minimum
	}
	role.Entrypoint = r.str("entrypoint")
	for v := range r.list("args") {
		role.Args = append(role.Args, string(v.(starlark.String)))
	}
	role.Env = r.strings("env")
	role.NumReplicas = toInt(r.get("num_replicas"))
	role.MaxRetries = toInt(r.get("max_retries"))
	role.RetryPolicy = spec.RetryPolicy(r.str("retry_policy"))
	role.Resource = r.get("resource").(*record).toResource()
	role.PortMap = r.ints("port_map")
	role.Metadata = r.goMap("metadata")
	for v := range r.list("mounts") {
		role.Mounts = append(role.Mounts, v.(*record).toMount())
	}
	if w, ok := r.get("workspace").(*record); ok {
		role.Workspace = &spec.Workspace{Projects: w.strings("projects")}
	}
	if fn, ok := r.get("pre_proc").(starlark.Callable); ok {
		role.PreProc = preProc(fn, r.call)
	}
	return role
}

func (r *record) toResource() spec.Resource {
	res := spec.NullResource()
	cpu, _ := starlark.AsFloat(r.get("cpu"))
	res.CPU, res.GPU, res.MemMB = cpu, toInt(r.get("gpu")), toInt(r.get("memMB"))
	res.Capabilities = r.goMap("capabilities")
	res.Devices = r.ints("devices")
	res.Tags = r.goMap("tags")
	return res
}

// toMount relies on the same order of fields in the three kinds of mounts.
func (r *record) toMount() spec.Mount {
	src, _ := starlark.AsString(r.values[0])
	dst, _ := starlark.AsString(r.values[1])
	m := spec.Mount{Type: mountTypes[r.kind-kindBind], Src: src, Dst: dst, ReadOnly: r.values[2] == starlark.True}
	if r.kind == kindDevice {
		m.Permissions = r.str("permissions")
	}
	return m
}

// The field accessors below rely on the checks of the schema.

func (r *record) str(name string) string { return string(r.get(name).(starlark.String)) }

func (r *record) list(name string) iter.Seq[starlark.Value] {
	return r.get(name).(*starlark.List).Elements()
}

func (r *record) goMap(name string) map[string]any { return toGoMap(r.get(name).(*starlark.Dict)) }

func (r *record) strings(name string) spec.Map[string] {
	return mapOf(r.get(name), func(v starlark.Value) string { return string(v.(starlark.String)) })
}

func (r *record) ints(name string) spec.Map[int] { return mapOf(r.get(name), toInt) }

func mapOf[V any](dict starlark.Value, convert func(starlark.Value) V) spec.Map[V] {
	d := dict.(*starlark.Dict)
	m := make(spec.Map[V], 0, d.Len())
	for key, value := range d.Entries() {
		m = append(m, spec.Entry[V]{Key: string(key.(starlark.String)), Value: convert(value)})
	}
	return m
}

func toInt(v starlark.Value) int {
	n, _ := starlark.AsInt32(v)
	return n
}

// resourceRecord is the inverse of toResource.
func resourceRecord(r spec.Resource) *record {
	var cpu starlark.Value = starlark.Float(r.CPU)
	if r.CPU == float64(int(r.CPU)) {
		cpu = starlark.MakeInt(int(r.CPU))
	}
	devices := starlark.NewDict(len(r.Devices))
	for _, e := range r.Devices {
		_ = devices.SetKey(starlark.String(e.Key), starlark.MakeInt(e.Value)) // cannot fail for a new dict and a string
	}
	return &record{kind: kindResource, values: []starlark.Value{
		cpu, starlark.MakeInt(r.GPU), starlark.MakeInt(r.MemMB),
		frozen(fromGo(r.Capabilities)), frozen(devices), frozen(fromGo(r.Tags)),
	}}
}

// mountRecord is the inverse of toMount.
func mountRecord(m spec.Mount) *record {
	k := kindBind + kind(slices.Index(mountTypes, m.Type))
	values := []starlark.Value{starlark.String(m.Src), starlark.String(m.Dst), starlark.Bool(m.ReadOnly)}
	if k == kindDevice {
		values[2] = starlark.String(m.Permissions)
	}
	return &record{kind: k, values: values}
}

// preProc adapts a role's Starlark function, which receives the backend and the request, and
// returns the changed request.
func preProc(fn starlark.Callable, call callFunc) spec.PreProc {
	return func(backend string, request []byte) ([]byte, error) {
		in, err := FromJSON(request)
		if err != nil {
			return nil, err
		}
		out, err := call(fn, starlark.Tuple{starlark.String(backend), in})
		if err != nil {
			return nil, err
		}
		if out.Type() != in.Type() {
			return nil, fmt.Errorf("%s returned %s, want the changed request (%s)", fn.Name(),
				out.Type(), in.Type())
		}
		return ToJSON(out)
	}
}

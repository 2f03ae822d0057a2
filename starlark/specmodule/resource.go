package specmodule

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/starlark"

	"torchx/runtime/spec"
	"torchx/runtime/suggest"
)

// What specs.resource puts in place of a value that is missing or 0; TorchX's.
const (
	defaultCPU   = 2
	defaultGPU   = 0
	defaultMemMB = 1024
)

// resourceFunc is specs.resource(cpu = None, gpu = None, memMB = None, h = None).
func resourceFunc(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	cpu, gpu, mem := starlark.Value(starlark.None), starlark.Value(starlark.None), starlark.Value(starlark.None)
	h := ""
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "cpu??", &cpu, "gpu??", &gpu, "memMB??", &mem, "h??", &h); err != nil {
		return nil, err
	}
	if h != "" {
		r, err := namedResource(h)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.Name(), err)
		}
		return resourceRecord(r), nil
	}
	values := starlark.Tuple{orDefault(cpu, defaultCPU), orDefault(gpu, defaultGPU), orDefault(mem, defaultMemMB)}
	return newRecord(kindResource, nil, b.Name(), values, nil)
}

// orDefault replaces None and 0; anything else is checked by the constructor.
func orDefault(v starlark.Value, fallback int) starlark.Value {
	switch v.(type) {
	case starlark.NoneType, starlark.Int, starlark.Float:
		if !v.Truth() {
			return starlark.MakeInt(fallback)
		}
	}
	return v
}

// copyResource is specs.Resource.copy(original, **capabilities).
func copyResource(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var old *record
	if err := starlark.UnpackPositionalArgs(b.Name(), args, nil, 1, &recordArg{&old}); err != nil {
		return nil, err
	}
	if old.kind != kindResource {
		return nil, fmt.Errorf("%s: %w", b.Name(), wrongType("original", old, kindResource.String()))
	}
	merged := starlark.NewDict(len(kwargs))
	for _, kv := range append(old.get("capabilities").(*starlark.Dict).Items(), kwargs...) {
		if err := merged.SetKey(kv[0], kv[1]); err != nil {
			return nil, err
		}
	}
	r := &record{kind: kindResource, values: append([]starlark.Value{}, old.values...)}
	if err := r.set(fieldIndex(kindResource, "capabilities"), merged); err != nil {
		return nil, fmt.Errorf("%s: %w", b.Name(), err)
	}
	return r, nil
}

// getNamedResources is specs.get_named_resources(name).
func getNamedResources(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "res", &name); err != nil {
		return nil, err
	}
	r, err := namedResource(name)
	if err != nil {
		return nil, err
	}
	return resourceRecord(r), nil
}

// namedResource looks a name up. The error suggests the closest name, or lists all.
func namedResource(name string) (spec.Resource, error) {
	for i := range namedTable {
		if namedTable[i].name == name {
			return namedTable[i].resource(), nil
		}
	}
	names := NamedResourceNames()
	hint := "Named resources: " + strings.Join(names, ", ")
	if closest, ok := suggest.Closest(name, names); ok {
		hint = fmt.Sprintf("Did you mean `%s`?", closest)
	}
	quoted := fmt.Sprintf("%.100q", name)                                                                     // no control characters in a message
	return spec.Resource{}, fmt.Errorf("No named resource found for `%s`. %s", quoted[1:len(quoted)-1], hint) //nolint:staticcheck // TorchX's words
}

// NamedResources returns the resources that components can ask for by name.
func NamedResources() map[string]spec.Resource {
	all := make(map[string]spec.Resource, len(namedTable))
	for i := range namedTable {
		all[namedTable[i].name] = namedTable[i].resource()
	}
	return all
}

// NamedResourceNames lists the names of NamedResources: the generic ones by
// size, those of AWS by family, the null resource.
func NamedResourceNames() []string {
	names := make([]string, len(namedTable))
	for i := range namedTable {
		names[i] = namedTable[i].name
	}
	return names
}

// namedResources is specs.named_resources: a read-only mapping whose error for
// an unknown name helps.
type namedResources struct{ dict func() *starlark.Dict }

var (
	_ starlark.IterableMapping = (*namedResources)(nil)
	_ starlark.Sequence        = (*namedResources)(nil)
	_ starlark.HasAttrs        = (*namedResources)(nil)
)

// newNamedResources makes the values when one is asked for: few components do, and
// all of them are a sixth of what evaluating one costs.
func newNamedResources() starlark.Value {
	return &namedResources{sync.OnceValue(func() *starlark.Dict {
		d := starlark.NewDict(len(namedTable))
		for i := range namedTable {
			_ = d.SetKey(starlark.String(namedTable[i].name), resourceRecord(namedTable[i].resource())) // a new dict takes every string
		}
		d.Freeze()
		return d
	})}
}

// Get implements named_resources[name] and `in`, which ignores the error.
func (n *namedResources) Get(key starlark.Value) (starlark.Value, bool, error) {
	name, ok := key.(starlark.String)
	if !ok {
		return nil, false, wrongType("specs.named_resources", key, "string")
	}
	if v, found, err := n.dict().Get(name); found || err != nil {
		return v, found, err
	}
	_, err := namedResource(string(name))
	return nil, false, err
}

// Attr offers the methods that read a dict.
func (n *namedResources) Attr(name string) (starlark.Value, error) {
	if slices.Contains(n.AttrNames(), name) {
		return n.dict().Attr(name)
	}
	return nil, nil
}

// AttrNames lists the methods.
func (n *namedResources) AttrNames() []string { return []string{"get", "items", "keys", "values"} }

// Items returns name and resource of all.
func (n *namedResources) Items() []starlark.Tuple { return n.dict().Items() }

// Iterate goes over the names.
func (n *namedResources) Iterate() starlark.Iterator { return n.dict().Iterate() }

// Len returns how many names there are.
func (n *namedResources) Len() int { return n.dict().Len() }

// Freeze has nothing to do.
func (n *namedResources) Freeze() {}

// Hash refuses, as for a dict.
func (n *namedResources) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", n.Type()) }

// Truth is always true.
func (n *namedResources) Truth() starlark.Bool { return true }

func (n *namedResources) String() string { return n.Type() }

// Type names the type in messages.
func (n *namedResources) Type() string { return "specs.named_resources" }

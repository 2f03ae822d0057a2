package specmodule

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.starlark.net/starlark"

	"torchx/runtime/humanize"
	"torchx/runtime/spec"
)

// Defaults of specs.resource for missing or zero values, as in TorchX.
const (
	defaultCPU   = 2
	defaultGPU   = 0
	defaultMemMB = 1024
)

func (n resourceNames) resource(c call) (starlark.Value, error) {
	cpu, gpu, mem := starlark.Value(starlark.None), starlark.Value(starlark.None), starlark.Value(starlark.None)
	h := ""
	if err := c.unpack("cpu??", &cpu, "gpu??", &gpu, "memMB??", &mem, "h??", &h); err != nil {
		return nil, err
	}
	if h != "" {
		r, err := n.find(h)
		if err != nil {
			return nil, err
		}
		return resourceRecord(r), nil
	}
	values := starlark.Tuple{orDefault(cpu, defaultCPU), orDefault(gpu, defaultGPU), orDefault(mem, defaultMemMB)}
	return newRecord(kindResource, nil, call{name: c.name, args: values})
}

// orDefault replaces None and 0; the constructor checks other values.
func orDefault(v starlark.Value, fallback int) starlark.Value {
	switch v.(type) {
	case starlark.NoneType, starlark.Int, starlark.Float:
		if !v.Truth() {
			return starlark.MakeInt(fallback)
		}
	}
	return v
}

func copyResource(c call) (starlark.Value, error) {
	old, err := c.record()
	if err != nil {
		return nil, err
	}
	if old.kind != kindResource {
		return nil, wrongType("original", old, kindResource.String())
	}
	merged := starlark.NewDict(len(c.kwargs))
	for _, kv := range append(old.get("capabilities").(*starlark.Dict).Items(), c.kwargs...) {
		if err := merged.SetKey(kv[0], kv[1]); err != nil {
			return nil, err
		}
	}
	r := old.clone()
	if err := r.set(fieldIndex(kindResource, "capabilities"), merged); err != nil {
		return nil, err
	}
	return r, nil
}

func (n resourceNames) get(c call) (starlark.Value, error) {
	var name string
	if err := c.unpack("res", &name); err != nil {
		return nil, err
	}
	r, err := n.find(name)
	if err != nil {
		return nil, namedError{err}
	}
	return resourceRecord(r), nil
}

// NamedResource is a resource and its name.
type NamedResource struct {
	Name     string
	Resource spec.Resource
}

// resourceNames are the project's named resources, which hide built-in ones.
type resourceNames []NamedResource

// find returns the resource of that name. The error suggests the closest name, or lists all.
func (n resourceNames) find(name string) (spec.Resource, error) {
	for i := range n {
		if n[i].Name == name {
			return n[i].Resource, nil
		}
	}
	for i := range namedTable {
		if namedTable[i].name == name {
			return namedTable[i].resource(), nil
		}
	}
	names := n.names()
	hint := "Named resources: " + strings.Join(names, ", ")
	if closest, ok := humanize.Closest(name, names); ok {
		hint = fmt.Sprintf("Did you mean `%s`?", closest)
	}
	quoted := fmt.Sprintf("%.100q", name)                                                                     // escapes control characters
	return spec.Resource{}, fmt.Errorf("No named resource found for `%s`. %s", quoted[1:len(quoted)-1], hint) //nolint:staticcheck // TorchX's message
}

func (n resourceNames) names() []string {
	var names []string
	for i := range n {
		names = append(names, n[i].Name)
	}
	for i := range namedTable {
		if !slices.Contains(names[:len(n)], namedTable[i].name) {
			names = append(names, namedTable[i].name)
		}
	}
	return names
}

// NamedResources lists the built-in resources: generic ones by size, AWS by family, then the null
// resource.
func NamedResources() []NamedResource {
	all := make([]NamedResource, len(namedTable))
	for i := range namedTable {
		all[i] = NamedResource{namedTable[i].name, namedTable[i].resource()}
	}
	return all
}

// NamedResourceNames lists the names of the project's resources, then those of NamedResources.
func NamedResourceNames(project ...NamedResource) []string {
	return resourceNames(project).names()
}

// namedResources is specs.named_resources, a read-only mapping whose errors suggest names.
type namedResources struct {
	names resourceNames
	dict  func() *starlark.Dict
}

var (
	_ starlark.IterableMapping = (*namedResources)(nil)
	_ starlark.Sequence        = (*namedResources)(nil)
	_ starlark.HasAttrs        = (*namedResources)(nil)
)

// newNamedResources creates the values on first use: few components need them, and they take a
// sixth of the time of an evaluation.
func newNamedResources(names resourceNames) starlark.Value {
	return &namedResources{names, sync.OnceValue(func() *starlark.Dict {
		d := starlark.NewDict(len(namedTable) + len(names))
		for _, r := range append(NamedResources(), names...) { // the project's resources come last and override
			_ = d.SetKey(starlark.String(r.Name), resourceRecord(r.Resource)) // cannot fail for a new dict and a string
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
	_, err := n.names.find(string(name))
	return nil, false, err
}

// Attr returns the methods that read a dict.
func (n *namedResources) Attr(name string) (starlark.Value, error) {
	if slices.Contains(n.AttrNames(), name) {
		return n.dict().Attr(name)
	}
	return nil, nil
}

// AttrNames lists the methods.
func (n *namedResources) AttrNames() []string { return []string{"get", "items", "keys", "values"} }

// Items lists names and resources.
func (n *namedResources) Items() []starlark.Tuple { return n.dict().Items() }

// Iterate iterates over the names.
func (n *namedResources) Iterate() starlark.Iterator { return n.dict().Iterate() }

// Len returns the number of names.
func (n *namedResources) Len() int { return n.dict().Len() }

// Freeze does nothing: the values are frozen.
func (n *namedResources) Freeze() {}

// Hash returns an error, as for a dict.
func (n *namedResources) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", n.Type()) }

// Truth is always true.
func (n *namedResources) Truth() starlark.Bool { return true }

func (n *namedResources) String() string { return n.Type() }

// Type returns the type name for messages.
func (n *namedResources) Type() string { return "specs.named_resources" }

package specmodule

import (
	"fmt"

	"go.starlark.net/starlark"

	"torchx/runtime/spec"
	"torchx/runtime/suggest"
)

// field is one parameter of a constructor and attribute of its value.
type field struct {
	name string
	// check returns a frozen copy of v, or an error that starts with at, the
	// place of v as its author would write it (`env["X"]`).
	check func(at string, v starlark.Value) (starlark.Value, error)
	// fallback is the frozen value if the argument is None or not given; nil
	// means that the argument is required.
	fallback starlark.Value
}

var (
	emptyList = frozen(starlark.NewList(nil))
	emptyDict = frozen(starlark.NewDict(0))
)

func frozen(v starlark.Value) starlark.Value {
	v.Freeze()
	return v
}

// schemas holds the fields of each kind, in TorchX's order and with its defaults.
var schemas = [kindCount][]field{
	kindApp: {
		{"name", checkString, nil},
		{"roles", listOf(kindRole), emptyList},
		{"metadata", checkJSONDict, emptyDict},
	},
	kindRole: {
		{"name", checkString, nil},
		{"image", checkString, nil},
		{"min_replicas", checkCount, starlark.None},
		{"entrypoint", checkString, starlark.String(spec.Missing)},
		{"args", checkStrings, emptyList},
		{"env", checkStringDict, emptyDict},
		{"num_replicas", checkInt, starlark.MakeInt(1)},
		{"max_retries", checkCount, starlark.MakeInt(0)},
		{"retry_policy", checkRetryPolicy, starlark.String(spec.RetryApplication)},
		{"resource", recordOf(kindResource), nullResource},
		{"port_map", checkPorts, emptyDict},
		{"metadata", checkJSONDict, emptyDict},
		{"mounts", listOf(kindBind, kindVolume, kindDevice), emptyList},
		{"workspace", checkWorkspace, starlark.None},
		{"pre_proc", checkCallable, starlark.None},
	},
	kindResource: {
		{"cpu", checkNumber, nil},
		{"gpu", checkInt, nil},
		{"memMB", checkInt, nil},
		{"capabilities", checkJSONDict, emptyDict},
		{"devices", checkCounts, emptyDict},
		{"tags", checkJSONDict, emptyDict},
	},
	kindBind: {
		{"src_path", checkPath, nil},
		{"dst_path", checkPath, nil},
		{"read_only", checkBool, starlark.False},
	},
	kindVolume: {
		{"src", checkPath, nil},
		{"dst_path", checkPath, nil},
		{"read_only", checkBool, starlark.False},
	},
	kindDevice: {
		{"src_path", checkPath, nil},
		{"dst_path", checkPath, nil},
		{"permissions", checkPermissions, starlark.String(defaultPermissions)},
	},
	kindWorkspace: {
		{"projects", checkStringDict, nil},
	},
}

// nullResource is the resource of a role that names none.
var nullResource = &record{kind: kindResource, values: []starlark.Value{
	starlark.MakeInt(-1), starlark.MakeInt(-1), starlark.MakeInt(-1), emptyDict, emptyDict, emptyDict,
}}

func fieldNames(k kind) []string {
	names := make([]string, len(schemas[k]))
	for i, f := range schemas[k] {
		names[i] = f.name
	}
	return names
}

// fieldIndex returns the place of a field, or -1.
func fieldIndex(k kind, name string) int {
	for i := range schemas[k] {
		if schemas[k][i].name == name {
			return i
		}
	}
	return -1
}

// constructor returns the builtin that makes records of one kind.
func constructor(k kind, o Options) starlark.Value {
	b := starlark.NewBuiltin(k.String(), func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return newRecord(k, o.Call, b.Name(), args, kwargs)
	})
	if k == kindResource {
		return &callableModule{b, starlark.StringDict{"copy": starlark.NewBuiltin("specs.Resource.copy", copyResource)}}
	}
	return b
}

func newRecord(k kind, call callFunc, fn string, args starlark.Tuple, kwargs []starlark.Tuple) (*record, error) {
	if err := checkKeywords(k, fn, kwargs); err != nil {
		return nil, err
	}
	raw := make([]starlark.Value, len(schemas[k]))
	pairs := make([]any, 0, 2*len(raw))
	for i, f := range schemas[k] {
		name := f.name
		if f.fallback != nil {
			name += "??" // None stands for the default
		}
		pairs = append(pairs, name, &raw[i])
	}
	if err := starlark.UnpackArgs(fn, args, kwargs, pairs...); err != nil {
		return nil, err
	}
	r := &record{kind: k, values: raw, call: call}
	for i, f := range schemas[k] {
		if raw[i] == nil {
			raw[i] = f.fallback
			continue
		}
		if err := r.set(i, raw[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", fn, err)
		}
	}
	return r, nil
}

// set checks v and makes it the i-th field of a record under construction.
func (r *record) set(i int, v starlark.Value) (err error) {
	f := schemas[r.kind][i]
	r.values[i], err = f.check(f.name, v)
	return err
}

// checkKeywords finds misspelt names; UnpackArgs would suggest from half of them only.
func checkKeywords(k kind, fn string, kwargs []starlark.Tuple) error {
	for _, kv := range kwargs {
		name := string(kv[0].(starlark.String))
		if fieldIndex(k, name) < 0 {
			return fmt.Errorf("%s: unexpected keyword argument %q.%s", fn, name, suggest.Hint(name, fieldNames(k)))
		}
	}
	return nil
}

// replace is specs.replace(value, **changes).
func replace(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var old *record
	if err := starlark.UnpackPositionalArgs(b.Name(), args, nil, 1, &recordArg{&old}); err != nil {
		return nil, err
	}
	if err := checkKeywords(old.kind, b.Name(), kwargs); err != nil {
		return nil, err
	}
	r := &record{kind: old.kind, values: append([]starlark.Value{}, old.values...), call: old.call}
	for _, kv := range kwargs {
		i := fieldIndex(r.kind, string(kv[0].(starlark.String)))
		if f := schemas[r.kind][i]; kv[1] == starlark.None && f.fallback != nil {
			r.values[i] = f.fallback
		} else if err := r.set(i, kv[1]); err != nil {
			return nil, fmt.Errorf("%s: %w", b.Name(), err)
		}
	}
	return r, nil
}

// recordArg unpacks an argument that may be any of the specs types.
type recordArg struct{ to **record }

// Unpack implements starlark.Unpacker.
func (a *recordArg) Unpack(v starlark.Value) error {
	r, ok := v.(*record)
	if !ok {
		return fmt.Errorf("got %s, want specs.AppDef, specs.Role, specs.Resource, a mount or specs.Workspace", v.Type())
	}
	*a.to = r
	return nil
}

// callableModule is a builtin with attributes, as a Python class with static methods.
type callableModule struct {
	*starlark.Builtin
	members starlark.StringDict
}

var _ starlark.HasAttrs = (*callableModule)(nil)

// Attr returns a static method.
func (c *callableModule) Attr(name string) (starlark.Value, error) { return c.members[name], nil }

// AttrNames lists the static methods.
func (c *callableModule) AttrNames() []string { return c.members.Keys() }

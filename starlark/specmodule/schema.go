package specmodule

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"torchx/runtime/spec"
)

// field is one parameter of a constructor and attribute of its value.
type field struct {
	name string
	check
	// fallback replaces None and a missing argument; nil means that the argument is required.
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
		{"roles", recordsOf(kindRole), emptyList},
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
		{"mounts", recordsOf(kindBind, kindVolume, kindDevice), emptyList},
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

// nullResource is the resource of a role without resource.
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

func fieldIndex(k kind, name string) int {
	for i := range schemas[k] {
		if schemas[k][i].name == name {
			return i
		}
	}
	return -1
}

// CheckArgument returns an error if v cannot be the argument name of a constructor such as
// "specs.Role". It returns nil for other functions and unknown names.
func CheckArgument(constructor, name string, v starlark.Value) error {
	for k := range kindCount {
		fields := schemas[k]
		if k == kindRole {
			fields = slices.Concat(fields, orderArgs)
		}
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		if k.String() != constructor || i < 0 || v == starlark.None && fields[i].fallback != nil {
			continue
		}
		_, err := fields[i].check(name, v)
		return err
	}
	return nil
}

// constructor returns the builtin that creates records of one kind.
func constructor(k kind, o Options) starlark.Value {
	b := builtin(k.String(), func(c call) (starlark.Value, error) {
		return newRecord(k, o.Call, c)
	})
	if k == kindResource {
		return &callableModule{b, starlark.StringDict{"copy": builtin("specs.Resource.copy", copyResource)}}
	}
	return b
}

func newRecord(k kind, preProc callFunc, c call) (starlark.Value, error) {
	fields, order, err := splitOrder(k, c.kwargs)
	if err != nil {
		return nil, err
	}
	c.kwargs = fields
	raw := make([]starlark.Value, len(schemas[k]))
	pairs := make([]any, 0, 2*len(raw))
	for i, f := range schemas[k] {
		name := f.name
		if f.fallback != nil {
			name += "??" // None means the default
		}
		pairs = append(pairs, name, &raw[i])
	}
	if err := c.unpack(pairs...); err != nil {
		return nil, err
	}
	r := &record{kind: k, values: raw, call: preProc}
	for i, f := range schemas[k] {
		if raw[i] == nil {
			raw[i] = f.fallback
			continue
		}
		if err := r.set(i, raw[i]); err != nil {
			return nil, err
		}
	}
	if err := r.setOrder(order, true); err != nil {
		return nil, err
	}
	return r, nil
}

// set checks v and sets field i of a new record.
func (r *record) set(i int, v starlark.Value) (err error) {
	f := schemas[r.kind][i]
	r.values[i], err = f.check(f.name, v)
	return err
}

func replace(c call) (starlark.Value, error) {
	old, err := c.record()
	if err != nil {
		return nil, err
	}
	fields, order, err := splitOrder(old.kind, c.kwargs)
	if err != nil {
		return nil, err
	}
	r := old.clone()
	given := false // whether this call sets metadata
	for _, kv := range fields {
		given = given || kv[0] == starlark.String("metadata")
		i := fieldIndex(r.kind, string(kv[0].(starlark.String)))
		if f := schemas[r.kind][i]; kv[1] == starlark.None && f.fallback != nil {
			r.values[i] = f.fallback
		} else if err := r.set(i, kv[1]); err != nil {
			return nil, err
		}
	}
	if err := r.setOrder(order, given); err != nil {
		return nil, err
	}
	return r, nil
}

// record unpacks the only positional argument, a value of any specs type.
func (c call) record() (*record, error) {
	var v starlark.Value
	if err := starlark.UnpackPositionalArgs(c.name, c.args, nil, 1, &v); err != nil {
		return nil, namedError{err}
	}
	r, ok := v.(*record)
	if !ok {
		return nil, fmt.Errorf("for parameter 1: got %s, want specs.AppDef, specs.Role, specs.Resource, a mount or specs.Workspace", v.Type())
	}
	return r, nil
}

// callableModule is a builtin with attributes, like a Python class with static methods.
type callableModule struct {
	*starlark.Builtin
	members starlark.StringDict
}

var _ starlark.HasAttrs = (*callableModule)(nil)

// Attr returns a static method.
func (c *callableModule) Attr(name string) (starlark.Value, error) { return c.members[name], nil }

// AttrNames lists the static methods.
func (c *callableModule) AttrNames() []string { return c.members.Keys() }

package specmodule

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"torchx/runtime/humanize"
	"torchx/runtime/overlay"
	"torchx/runtime/spec"
)

// orderArgs are the keyword arguments of specs.Role that are stored in metadata["torchx"], which
// package spec reads and validates with the app.
var orderArgs = []field{
	{"depends_on", checkDependsOn, starlark.None},
	{"ready", checkJSONDict, starlark.None},
	{"sidecar", checkBool, starlark.None},
	{"max_parallel", checkMaxParallel, starlark.None},
	{"timeout", checkTimeout, starlark.None},
	{"retry_on_timeout", checkBool, starlark.None},
}

// checkDependsOn accepts a dict of role to condition, or a list of roles.
func checkDependsOn(at string, v starlark.Value) (starlark.Value, error) {
	switch v.(type) {
	case *starlark.Dict:
		return checkStringDict(at, v)
	case *starlark.List, starlark.Tuple:
		return checkStrings(at, v)
	}
	return nil, wrongType(at, v, `dict such as {"db": "ready"} or list of roles`)
}

// checkMaxParallel accepts a number of replicas.
func checkMaxParallel(at string, v starlark.Value) (starlark.Value, error) {
	if n, ok := v.(starlark.Int); !ok || n.Sign() <= 0 {
		return nil, fmt.Errorf("%s: got %s, want a whole number from 1", at, v)
	}
	return v, nil
}

// checkTimeout accepts a duration or a number of seconds.
func checkTimeout(at string, v starlark.Value) (starlark.Value, error) {
	if _, ok := v.(starlark.String); ok {
		return v, nil
	}
	if n, err := checkNumber(at, v); err == nil {
		return n, nil
	}
	return nil, wrongType(at, v, `duration such as "2h" or number of seconds`)
}

// splitOrder separates the order arguments of a role from other keyword arguments. It rejects
// unknown names, since UnpackArgs would suggest names from half of them only.
func splitOrder(k kind, kwargs []starlark.Tuple) (fields, order []starlark.Tuple, err error) {
	names := fieldNames(k)
	if k == kindRole {
		for _, f := range orderArgs {
			names = append(names, f.name)
		}
	}
	for _, kv := range kwargs {
		name := string(kv[0].(starlark.String))
		switch {
		case fieldIndex(k, name) >= 0:
			fields = append(fields, kv)
		case slices.Contains(names, name):
			order = append(order, kv)
		default:
			return nil, nil, fmt.Errorf("unexpected keyword argument %q.%s", name,
				humanize.Hint(name, names))
		}
	}
	return fields, order, nil
}

// setOrder stores order arguments in the metadata of a new role. With once, it is an error if the
// metadata already has them.
func (r *record) setOrder(order []starlark.Tuple, once bool) error {
	if len(order) == 0 {
		return nil
	}
	metadata, own, err := ownMetadata(r.get("metadata"))
	if err != nil {
		return err
	}
	for _, kv := range order {
		if _, present, _ := own.Get(kv[0]); present && once && kv[1] != starlark.None {
			return fmt.Errorf("%s is given twice: as an argument and in metadata[%q]; keep one",
				string(kv[0].(starlark.String)), spec.OrderKey)
		}
		if err := setOrderKey(own, kv[0], kv[1]); err != nil {
			return err
		}
	}
	if err := metadata.SetKey(starlark.String(spec.OrderKey), own); err != nil {
		return err
	}
	if own.Len() == 0 {
		_, _, err = metadata.Delete(starlark.String(spec.OrderKey))
	}
	r.values[fieldIndex(kindRole, "metadata")] = frozen(metadata)
	return err
}

// ownMetadata returns copies of a role's metadata and of its entry for torchx.
func ownMetadata(v starlark.Value) (metadata, own *starlark.Dict, err error) {
	metadata = v.(*starlark.Dict).Union(new(starlark.Dict))
	old, found, err := metadata.Get(starlark.String(spec.OrderKey))
	if err != nil || !found {
		return metadata, new(starlark.Dict), err
	}
	dict, ok := old.(*starlark.Dict)
	if !ok {
		return nil, nil, wrongType(fmt.Sprintf("metadata[%q]", spec.OrderKey), old, "dict")
	}
	return metadata, dict.Union(new(starlark.Dict)), nil
}

// setOrderKey sets an order argument. None, False and an empty depends_on remove it.
func setOrderKey(own *starlark.Dict, name, v starlark.Value) error {
	if v != starlark.None {
		i := slices.IndexFunc(orderArgs, func(f field) bool { return f.name == string(name.(starlark.String)) })
		checked, err := orderArgs[i].check(orderArgs[i].name, v)
		if err != nil {
			return err
		}
		if checked.Truth() || orderArgs[i].name == "ready" || orderArgs[i].name == "timeout" {
			return own.SetKey(name, checked)
		}
	}
	_, _, err := own.Delete(name)
	return err
}

// overlayBackend is the default backend of specs.overlay.
const overlayBackend = "kubernetes"

func overlaysModule() starlark.Value {
	return module("specs.overlays", map[string]function{
		"PUT":          fieldKey(overlay.Put),
		"JOIN":         overlayJoin,
		"DEL":          fieldKey(overlay.Del),
		"with_overlay": withOverlay,
	}, nil)
}

// fieldKey returns specs.overlays.PUT(field) or DEL(field).
func fieldKey(key func(field string) string) function {
	return func(c call) (starlark.Value, error) {
		var field string
		err := c.unpack("field", &field)
		return starlark.String(key(field)), err
	}
}

func overlayJoin(c call) (starlark.Value, error) {
	var field, on string
	err := c.unpack("field", &field, "on", &on)
	return starlark.String(overlay.Join(field, on)), err
}

func overlayFunc(c call) (starlark.Value, error) {
	var objectKind string
	var over, base starlark.Value = starlark.None, emptyDict
	backend := overlayBackend
	if err := c.unpack("kind", &objectKind, "overlay", &over, "base??", &base, "backend??", &backend); err != nil {
		return nil, err
	}
	return addOverlay(base, backend, objectKind, over)
}

func withOverlay(c call) (starlark.Value, error) {
	var old, over starlark.Value
	var backend, objectKind string
	if err := c.unpack("role", &old, "backend", &backend, "kind", &objectKind, "overlay", &over); err != nil {
		return nil, err
	}
	target, ok := old.(*record)
	if !ok || target.kind != kindRole && target.kind != kindApp {
		return nil, wrongType("role", old, kindList([]kind{kindRole, kindApp}))
	}
	metadata, err := addOverlay(target.get("metadata"), backend, objectKind, over)
	if err != nil {
		return nil, err
	}
	changed := target.clone()
	changed.values[fieldIndex(target.kind, "metadata")] = frozen(metadata)
	return changed, nil
}

// addOverlay returns metadata with one more overlay for objects of that kind.
func addOverlay(
	metadata starlark.Value, backend, objectKind string, over starlark.Value,
) (starlark.Value, error) {
	base, err := checkJSONDict("base", metadata)
	if err != nil {
		return nil, err
	}
	checked, err := checkJSONDict("overlay", over)
	if err != nil {
		return nil, err
	}
	all := toGoMap(base.(*starlark.Dict))
	kinds := overlaysOf(all[backend], objectKind)
	if kinds[objectKind], err = composed(kinds[objectKind], toGoMap(checked.(*starlark.Dict))); err != nil {
		return nil, fmt.Errorf("overlay of %s: %w", objectKind, err)
	}
	kinds[overlay.Marker] = true
	all[backend] = kinds
	return fromGo(all), nil
}

// overlaysOf returns the overlays by kind in the metadata value of a backend. A value not made by
// specs.overlay, such as the path of a file, belongs to objectKind.
func overlaysOf(value any, objectKind string) map[string]any {
	kinds, isMap := value.(map[string]any)
	_, byKind := kinds[objectKind]
	switch {
	case value == nil:
		return map[string]any{}
	case isMap && (byKind || kinds[overlay.Marker] == true):
		return kinds
	}
	return map[string]any{objectKind: value}
}

// composed returns old followed by over. Files are not read here: a path stays in a list.
func composed(old any, over map[string]any) (any, error) {
	first, isMap := old.(map[string]any)
	all, err := overlay.Compose(first, over)
	switch list, isList := old.([]any); {
	case err != nil || isMap || old == nil:
		return all, err
	case isList:
		return append(list, over), nil
	}
	return []any{old, over}, nil
}

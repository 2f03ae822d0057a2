package specmodule

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"torchx/runtime/overlay"
)

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
	changed := &record{kind: target.kind, values: slices.Clone(target.values), call: target.call}
	changed.values[fieldIndex(target.kind, "metadata")] = frozen(metadata)
	return changed, nil
}

// addOverlay returns metadata with one more overlay for objects of that kind.
func addOverlay(metadata starlark.Value, backend, objectKind string, over starlark.Value) (starlark.Value, error) {
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

package specmodule

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"torchx/runtime/overlay"
)

// overlayBackend is the default of specs.overlay.
const overlayBackend = "kubernetes"

func overlaysModule() starlark.Value {
	return module("specs.overlays", map[string]function{
		"PUT":          fieldKey(overlay.Put),
		"JOIN":         overlayJoin,
		"DEL":          fieldKey(overlay.Del),
		"with_overlay": withOverlay,
	}, nil)
}

// fieldKey is specs.overlays.PUT(field) or DEL(field).
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
	role, ok := old.(*record)
	if !ok || role.kind != kindRole {
		return nil, fmt.Errorf("%w", wrongType("role", old, kindRole.String()))
	}
	metadata, err := addOverlay(role.get("metadata"), backend, objectKind, over)
	if err != nil {
		return nil, err
	}
	changed := &record{kind: kindRole, values: slices.Clone(role.values), call: role.call}
	changed.values[fieldIndex(kindRole, "metadata")] = frozen(metadata)
	return changed, nil
}

// addOverlay returns metadata with one more overlay on objects of that kind.
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
	kinds, err := overlaysOf(all, backend)
	if err != nil {
		return nil, err
	}
	old, _ := kinds[objectKind].(map[string]any)
	kinds[objectKind], err = overlay.Compose(old, toGoMap(checked.(*starlark.Dict)))
	if err != nil {
		return nil, fmt.Errorf("overlay of %s: %w", objectKind, err)
	}
	kinds[overlay.Marker] = true
	all[backend] = kinds
	return fromGo(all), nil
}

// overlaysOf returns the overlays by kind that metadata holds for backend.
func overlaysOf(metadata map[string]any, backend string) (map[string]any, error) {
	value, ok := metadata[backend]
	if !ok {
		return map[string]any{}, nil
	}
	kinds, _ := value.(map[string]any)
	if kinds[overlay.Marker] != true {
		return nil, fmt.Errorf("metadata[%q] is there already and is no result of specs.overlay: it cannot be extended", backend)
	}
	return kinds, nil
}

package overlay

import (
	"fmt"
	"maps"
	"slices"

	"torchx/runtime/spec"
)

// Compose returns one overlay with the effect of first, then second: a role may have several. If
// both set a field, plainly or by Put, the later overrides. The arguments do not change.
func Compose(first, second map[string]any) (map[string]any, error) {
	return compose(first, second, "", 0)
}

func compose(first, second map[string]any, path string, depth int) (map[string]any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("overlay is nested more than %d deep at `%s`", maxDepth, path)
	}
	if _, err := sortedOps(first); err != nil {
		return nil, err
	}
	ops, err := sortedOps(second)
	if err != nil {
		return nil, err
	}
	out := maps.Clone(first)
	if out == nil {
		out = map[string]any{}
	}
	for _, o := range ops {
		if err := addOp(out, o, second[o.key()], path, depth); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// addOp adds o to the overlay out, to be done after its existing operations.
func addOp(out map[string]any, o op, value any, path string, depth int) error {
	if o.kind == opPut || o.kind == opDel {
		removeOps(out, o.field)
		out[o.key()] = value
		return nil
	}
	if _, put := out[Put(o.field)]; put && o.kind == opMerge {
		removeOps(out, o.field)
	}
	if v, known := settledValue(out, o.field); known {
		result, err := combine(v, o, value, child(path, o.field), depth)
		if err != nil {
			return err
		}
		removeOps(out, o.field)
		out[Put(o.field)] = result
		return nil
	}
	old, ok := out[o.key()]
	if !ok {
		out[o.key()] = value
		return nil
	}
	var err error
	if o.kind == opJoin {
		out[o.key()], err = composeJoin(old, value, o)
	} else {
		out[o.key()], err = composeField(old, value, child(path, o.field), depth)
	}
	return err
}

// composeJoin returns the items of two joins by the same key. Items with operations are not merged:
// they are joined one after the other.
func composeJoin(old, value any, o op) (any, error) {
	first, _ := asList(old)
	second, _ := asList(value)
	if items := slices.Concat(first, second); slices.ContainsFunc(items, hasOperations) {
		_, err := join(nil, items, o) // checks the items
		return items, err
	}
	return join(old, value, o)
}

// hasOperations reports whether an item of a join has keys that are operations.
func hasOperations(v any) bool {
	item, _ := v.(map[string]any)
	for key := range item {
		if o, err := parseKey(key); err != nil || o.kind != opMerge {
			return true
		}
	}
	return false
}

// settledValue returns the value that out gives to field for every base, if there is one; nil for
// a removed field.
func settledValue(out map[string]any, field string) (any, bool) {
	if v, ok := out[Put(field)]; ok {
		return v, true
	}
	_, deleted := out[Del(field)]
	return nil, deleted
}

// combine applies a join or merge to a value.
func combine(v any, o op, value any, path string, depth int) (any, error) {
	if o.kind == opJoin {
		return join(v, value, o)
	}
	return merge(v, value, path, depth)
}

// removeOps removes all operations on field from the overlay.
func removeOps(out map[string]any, field string) {
	for key := range out {
		if o, err := parseKey(key); err == nil && o.field == field {
			delete(out, key)
		}
	}
}

// composeField merges two plain values of a field. It keeps operations in maps, and tuples, which
// still have to replace the list of the base.
func composeField(old, value any, path string, depth int) (any, error) {
	oldMap, wasMap := old.(map[string]any)
	newMap, isMap := value.(map[string]any)
	if wasMap && isMap {
		return compose(oldMap, newMap, path, depth+1)
	}
	if old == nil {
		return value, nil // kept unchanged: it may contain operations
	}
	_, replaced := old.(spec.Tuple)
	_, replaces := value.(spec.Tuple)
	merged, err := merge(old, value, path, depth)
	if list, ok := merged.([]any); ok && (replaced || replaces) {
		return spec.Tuple(list), err
	}
	return merged, err
}

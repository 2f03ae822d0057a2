package overlay

import (
	"fmt"
	"maps"
	"slices"

	"torchx/runtime/spec"
)

// maxDepth bounds the nesting of maps, so that no input can exhaust the stack.
const maxDepth = 200

// Apply returns base changed by overlay, without operation keys and tuples. It shares nothing
// with the arguments and does not change them. Errors name the field.
func Apply(base, overlay map[string]any) (map[string]any, error) {
	return apply(base, overlay, "", 0)
}

func apply(base, overlay map[string]any, path string, depth int) (map[string]any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("overlay is nested more than %d deep at `%s`", maxDepth, path)
	}
	out, _ := clone(base).(map[string]any)
	ops, err := sortedOps(overlay)
	if err != nil {
		return nil, err
	}
	for _, o := range ops {
		value := overlay[o.key()]
		switch o.kind {
		case opDel:
			delete(out, o.field)
		case opPut:
			out[o.field] = clone(value)
		default:
			out[o.field], err = combine(out[o.field], o, value, child(path, o.field), depth)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sortedOps parses the keys and returns them in a fixed order.
func sortedOps(overlay map[string]any) ([]op, error) {
	byKind := [opCount][]op{}
	for _, key := range slices.Sorted(maps.Keys(overlay)) {
		o, err := parseKey(key)
		if err != nil {
			return nil, err
		}
		byKind[o.kind] = append(byKind[o.kind], o)
	}
	return slices.Concat(byKind[:]...), nil
}

// merge returns the merged value of a plain field; old is nil if it does not exist.
func merge(old, value any, path string, depth int) (any, error) {
	if m, ok := value.(map[string]any); ok {
		oldMap, isMap := old.(map[string]any)
		if !isMap && old != nil {
			return nil, mismatch(old, value, path)
		}
		return apply(oldMap, m, path, depth+1)
	}
	if old == nil {
		return clone(value), nil
	}
	oldList, wasList := asList(old)
	list, isList := asList(value)
	_, wasMap := old.(map[string]any)
	switch {
	case wasMap || wasList != isList:
		return nil, mismatch(old, value, path)
	case !isList:
		return value, nil
	}
	if _, replace := value.(spec.Tuple); replace {
		return cloneList(list), nil
	}
	return append(cloneList(oldList), cloneList(list)...), nil
}

func mismatch(old, value any, path string) error {
	return fmt.Errorf("cannot merge a %s into the %s at `%s`: use PUT to replace it or DEL to remove it",
		typeName(value), typeName(old), path)
}

// join merges the items of value into the list old by the key o.on.
func join(old, value any, o op) (any, error) {
	list, ok := asList(old)
	if !ok && old != nil {
		return nil, fmt.Errorf("JOIN requires a list, but field `%s` is a %s",
			o.field, typeName(old))
	}
	items, ok := asList(value)
	if !ok {
		return nil, fmt.Errorf("JOIN requires a list value, got %s for field `%s`",
			typeName(value), o.field)
	}
	out := cloneList(list)
	for i, v := range items {
		item, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("JOIN requires a list of dicts, got %s for item %d of field `%s`", typeName(v), i, o.field)
		}
		id, ok := item[o.on]
		if !ok {
			return nil, fmt.Errorf("JOIN item %d of field `%s` has no `%s`", i, o.field, o.on)
		}
		found := findItem(out, o.on, id)
		if found == nil {
			found = map[string]any{}
			out = append(out, found)
		}
		if err := joinItem(found, item, fmt.Sprintf("%s[%d]", o.field, i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// joinItem changes an item of a joined list: plain fields replace, operations apply to the field.
func joinItem(found, item map[string]any, path string) error {
	ops := map[string]any{}
	for key, value := range item {
		switch o, err := parseKey(key); {
		case err != nil:
			return err
		case o.kind == opMerge:
			found[key] = clone(value)
		default:
			ops[key] = value
		}
	}
	if len(ops) == 0 {
		return nil
	}
	changed, err := apply(found, ops, path, 0)
	if err != nil {
		return err
	}
	clear(found)
	maps.Copy(found, changed)
	return nil
}

// findItem returns the first map of list whose value of on is id, or nil.
func findItem(list []any, on string, id any) map[string]any {
	for _, v := range list {
		item, _ := v.(map[string]any)
		if have, ok := item[on]; ok && isEqual(have, id) {
			return item
		}
	}
	return nil
}

// isEqual compares two keys of items; only scalars can be equal.
func isEqual(a, b any) bool {
	switch a.(type) {
	case map[string]any, []any, spec.Tuple:
		return false
	}
	switch b.(type) {
	case map[string]any, []any, spec.Tuple:
		return false
	}
	return a == b
}

package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// The kinds of a jsonChange, named as in RFC 6902.
const (
	opAdd     = "add"
	opRemove  = "remove"
	opReplace = "replace"
)

// jsonChange is one difference of two JSON values, by JSON pointers (RFC 6901) into the first and
// the second. They differ after list items that were added or removed; a is "" for opAdd, b for
// opRemove.
type jsonChange struct {
	op   string
	a, b string
}

// path returns the pointer to the change: into the second value for opAdd, else into the first.
func (c *jsonChange) path() string {
	if c.op == opAdd {
		return c.b
	}
	return c.a
}

// compareJSON returns the changes from a to b, as encoding/json decodes them into any, in the
// order of a's keys and items.
func compareJSON(a, b any) []jsonChange {
	var d differ
	d.values("", "", a, b)
	return d.changes
}

type differ struct{ changes []jsonChange }

func (d *differ) add(op, pathA, pathB string) {
	d.changes = append(d.changes, jsonChange{op, pathA, pathB})
}

func (d *differ) values(pathA, pathB string, a, b any) {
	mapA, okA := a.(map[string]any)
	mapB, okB := b.(map[string]any)
	if okA && okB {
		d.maps(pathA, pathB, mapA, mapB)
		return
	}
	listA, okA := a.([]any)
	listB, okB := b.([]any)
	if okA && okB {
		d.lists(pathA, pathB, listA, listB)
		return
	}
	if !reflect.DeepEqual(a, b) {
		d.add(opReplace, pathA, pathB)
	}
}

func (d *differ) maps(pathA, pathB string, a, b map[string]any) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		left, inA := a[k]
		right, inB := b[k]
		step := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(k)
		switch {
		case !inB:
			d.add(opRemove, pathA+step, "")
		case !inA:
			d.add(opAdd, "", pathB+step)
		default:
			d.values(pathA+step, pathB+step, left, right)
		}
	}
}

// lists pairs items that are equal or have the same name, and items at the same position between
// such pairs.
func (d *differ) lists(pathA, pathB string, a, b []any) {
	at := func(path string, i int) string { return path + "/" + strconv.Itoa(i) }
	m := difflib.NewMatcherWithJunk(itemKeys(a), itemKeys(b), false, nil)
	for _, op := range m.GetOpCodes() {
		i, j := op.I1, op.J1
		for ; i < op.I2 && j < op.J2; i, j = i+1, j+1 {
			d.values(at(pathA, i), at(pathB, j), a[i], b[j])
		}
		for ; i < op.I2; i++ {
			d.add(opRemove, at(pathA, i), "")
		}
		for ; j < op.J2; j++ {
			d.add(opAdd, "", at(pathB, j))
		}
	}
}

// itemKeys returns the keys by which the items of two lists are paired: the name of an object, else
// the whole item.
func itemKeys(list []any) []string {
	keys := make([]string, len(list))
	for i, item := range list {
		if m, ok := item.(map[string]any); ok {
			if name, ok := m["name"].(string); ok {
				keys[i] = "name " + name
				continue
			}
		}
		data, err := json.Marshal(item)
		if err != nil { // impossible for decoded JSON
			data = fmt.Append(nil, item)
		}
		keys[i] = string(data)
	}
	return keys
}

// valueAt returns the value at a JSON pointer, nil if it does not exist.
func valueAt(v any, pointer string) any {
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

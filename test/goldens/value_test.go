package goldens

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// object is a JSON object that keeps the order of its members.
type object []member

type member struct {
	key   string
	value any
}

func (o object) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

func (o object) keys() []string {
	keys := make([]string, len(o))
	for i, m := range o {
		keys[i] = m.key
	}
	return keys
}

// decode returns a JSON value: an object, a []any, a string, a json.Number, a bool or nil.
func decode(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := next(d)
	if err != nil {
		t.Fatalf("read JSON: %v\n%s", err, text)
	}
	if d.More() {
		t.Fatalf("got more than one JSON value:\n%s", text)
	}
	return v
}

func next(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return members(d)
	case json.Delim('['):
		return items(d)
	}
	return token, nil
}

func members(d *json.Decoder) (any, error) {
	o := object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := next(d)
		if err != nil {
			return nil, err
		}
		o = append(o, member{key.(string), v})
	}
	_, err := d.Token() // the closing brace
	return o, err
}

func items(d *json.Decoder) (any, error) {
	list := []any{}
	for d.More() {
		v, err := next(d)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token() // the closing bracket
	return list, err
}

// anyText is a wanted value that matches any text.
const anyText = "<any text>"

// compare returns the differences of got from want, one per path. Members of an object must
// have the same order, except at the paths in unordered.
func compare(path string, want, got any, unordered ...string) (diffs []string) {
	switch w := want.(type) {
	case object:
		if g, ok := got.(object); ok {
			return compareObjects(path, w, g, unordered)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return compareLists(path, w, g, unordered)
		}
	case json.Number:
		if g, ok := got.(json.Number); ok && sameNumber(w, g) {
			return nil
		}
	default:
		if want == got || want == anyText {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: %s\n  want %s", path, text(got), text(want))}
}

func compareObjects(path string, want, got object, unordered []string) (diffs []string) {
	wantKeys, gotKeys := want.keys(), got.keys()
	if slices.Contains(unordered, path) {
		slices.Sort(wantKeys)
		slices.Sort(gotKeys)
	}
	if !slices.Equal(wantKeys, gotKeys) {
		diffs = append(diffs, fmt.Sprintf("members of %s: %q\n  want %q", path, gotKeys, wantKeys))
	}
	for _, m := range want {
		if slices.Contains(gotKeys, m.key) {
			diffs = append(diffs, compare(join(path, m.key), m.value, got.get(m.key), unordered...)...)
		}
	}
	return diffs
}

func compareLists(path string, want, got []any, unordered []string) (diffs []string) {
	if len(want) != len(got) {
		return []string{fmt.Sprintf("%s: %s\n  want %s", path, text(got), text(want))}
	}
	for i := range want {
		diffs = append(diffs, compare(fmt.Sprintf("%s[%d]", path, i), want[i], got[i], unordered...)...)
	}
	return diffs
}

// sameNumber reports whether two numbers are equal in JSON, as 1 and 1.0 are.
func sameNumber(a, b json.Number) bool {
	x, err1 := a.Float64()
	y, err2 := b.Float64()
	return a == b || err1 == nil && err2 == nil && x == y
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// text returns a value as compact JSON.
func text(v any) string {
	switch v := v.(type) {
	case object:
		parts := make([]string, len(v))
		for i, m := range v {
			parts[i] = text(m.key) + ":" + text(m.value)
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = text(e)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(b.String(), "\n")
}

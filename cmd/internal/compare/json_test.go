package compare

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestCompareJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want []jsonChange
	}{
		{`{"x":1,"y":[1,2]}`, `{"y":[1,2],"x":1}`, nil},
		{`1`, `"1"`, []jsonChange{{opReplace, "", ""}}},
		{`{"a":1,"b":2}`, `{"b":3,"c":4}`, []jsonChange{{opRemove, "/a", ""}, {opReplace, "/b", "/b"}, {opAdd, "", "/c"}}},
		{`{"a/b~c":1}`, `{"a/b~c":2}`, []jsonChange{{opReplace, "/a~1b~0c", "/a~1b~0c"}}},
		{`[1,2,3]`, `[2,3]`, []jsonChange{{opRemove, "/0", ""}}},
		{`[2,3]`, `[1,2,3]`, []jsonChange{{opAdd, "", "/0"}}},
		{`[{"name":"x","v":1}]`, `[{"name":"w"},{"name":"x","v":2}]`, []jsonChange{{opAdd, "", "/0"}, {opReplace, "/0/v", "/1/v"}}},
		{`{"a":{}}`, `{"a":[]}`, []jsonChange{{opReplace, "/a", "/a"}}},
		{`{"a":null}`, `{}`, []jsonChange{{opRemove, "/a", ""}}},
	} {
		if got := compareJSON(decode(t, c.a), decode(t, c.b)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s and %s: got %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestValueAt(t *testing.T) {
	t.Parallel()
	v := decode(t, `{"a/b":[1,{"~":"x"}]}`)
	for pointer, want := range map[string]any{"/a~1b/0": 1.0, "/a~1b/1/~0": "x", "/a~1b/9": nil, "/a~1b/-1": nil, "/z": nil, "/a~1b/0/z": nil} {
		if got := valueAt(v, pointer); got != want {
			t.Errorf("%s: got %v, want %v", pointer, got, want)
		}
	}
	if got := valueAt(v, ""); !reflect.DeepEqual(got, v) {
		t.Errorf("empty pointer: got %v, want %v", got, v)
	}
}

func decode(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

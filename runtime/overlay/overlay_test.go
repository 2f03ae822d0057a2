package overlay

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

type object = map[string]any

func TestApplyVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/overlay_apply.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Rows []struct {
			In    [2]object
			Out   object
			Error string
		}
	}
	if err := json.Unmarshal(data, &table); err != nil || len(table.Rows) == 0 {
		t.Fatalf("got %d rows, %v, want some", len(table.Rows), err)
	}
	for _, row := range table.Rows {
		got, err := Apply(row.In[0], row.In[1])
		if row.Error != "" {
			if err == nil || err.Error() != row.Error {
				t.Errorf("Apply%v: got error %v, want %s", row.In, err, row.Error)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, row.Out) {
			t.Errorf("Apply%v: got %v, %v, want %v", row.In, got, err, row.Out)
		}
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		base, overlay object
		want          object
	}{
		{"a tuple replaces a list", object{"l": []any{1, 2}}, object{"l": spec.Tuple{3}}, object{"l": []any{3}}},
		{"a tuple in nothing", object{}, object{"l": spec.Tuple{3}}, object{"l": []any{3}}},
		{"a tuple deep in a new value", object{}, object{"a": object{"l": spec.Tuple{spec.Tuple{3}}}}, object{"a": object{"l": []any{[]any{3}}}}},
		{"operations below a new field", object{}, object{"a": object{Put("b"): 1, Del("c"): nil}}, object{"a": object{"b": 1}}},
		{"null counts as absent", object{"a": nil}, object{"a": object{"b": 1}}, object{"a": object{"b": 1}}},
		{"a scalar becomes null", object{"a": 1}, object{"a": nil}, object{"a": nil}},
		{"delete what is not there", object{"a": 1}, object{Del("b"): nil}, object{"a": 1}},
		{"put another kind", object{"a": object{"b": 1}}, object{Put("a"): []any{1}}, object{"a": []any{1}}},
		{
			"a field with colons joins by the last part",
			object{"a:b": []any{object{"n": "x"}}},
			object{Join("a:b", "n"): []any{object{"n": "x", "v": 1}}},
			object{"a:b": []any{object{"n": "x", "v": 1}}},
		},
		{
			"join changes the first match only",
			object{"c": []any{"text", object{"n": 1}, object{"n": 1}}},
			object{Join("c", "n"): []any{object{"n": 1, "v": 2}}},
			object{"c": []any{"text", object{"n": 1, "v": 2}, object{"n": 1}}},
		},
		{
			"merge, then put, then join, then delete",
			object{"a": []any{0}},
			object{"a": []any{1}, Put("a"): []any{object{"n": 1}}, Join("a", "n"): []any{object{"n": 1, "v": 2}}},
			object{"a": []any{object{"n": 1, "v": 2}}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := Apply(test.base, test.overlay)
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

func TestApplyErrors(t *testing.T) {
	t.Parallel()
	deep := object{}
	for range maxDepth + 2 {
		deep = object{"x": deep}
	}
	tests := []struct {
		name          string
		base, overlay object
		want          string
	}{
		{"map over list", object{"a": object{"b": []any{1}}}, object{"a": object{"b": object{}}}, "cannot merge a dict into the list at `a.b`"},
		{"list over map", object{"a": object{}}, object{"a": []any{}}, "cannot merge a list into the dict at `a`"},
		{"tuple over map", object{"a": object{}}, object{"a": spec.Tuple{}}, "cannot merge a tuple into the dict at `a`"},
		{"scalar over list", object{"a": []any{}}, object{"a": "x"}, "cannot merge a string into the list"},
		{"list over scalar", object{"a": 1.5}, object{"a": []any{}}, "cannot merge a list into the float"},
		{"null over map", object{"a": object{}}, object{"a": nil}, "cannot merge a None into the dict"},
		{"join into map", object{"a": object{}}, object{Join("a", "n"): []any{}}, "field `a` is a dict"},
		{"join of scalars", object{}, object{Join("a", "n"): []any{1}}, "got int for item 0 of field `a`"},
		{"join without key", object{}, object{Join("a", "n"): []any{object{"n": 1}, object{"m": 1}}}, "item 1 of field `a` has no `n`"},
		{"join key empty", object{}, object{Join("a", ""): []any{}}, "malformed JOIN key"},
		{"join field empty", object{}, object{Join("", "n"): []any{}}, "malformed JOIN key"},
		{"too deep", object{}, deep, "nested more than"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got, err := Apply(test.base, test.overlay); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v, want error %q", got, err, test.want)
			}
		})
	}
}

func TestApplyIsPure(t *testing.T) {
	t.Parallel()
	base := object{"a": []any{object{"n": 1, "l": []any{1}}}, "m": object{"k": "v"}}
	over := object{Join("a", "n"): []any{object{"n": 1, "x": object{"y": 1}}}, "m": object{"j": []any{1}}}
	before := [2]any{clone(base), clone(over)}
	got, err := Apply(base, over)
	if err != nil {
		t.Fatal(err)
	}
	got["a"].([]any)[0].(object)["x"].(object)["y"] = "changed"
	got["a"].([]any)[0].(object)["l"].([]any)[0] = "changed"
	got["m"].(object)["j"].([]any)[0] = "changed"
	if !reflect.DeepEqual(before, [2]any{base, over}) {
		t.Errorf("got changed arguments %v, %v, want them unchanged", base, over)
	}
}

// TestCompose checks that a composed overlay has the effect of both, one after the other.
func TestCompose(t *testing.T) {
	t.Parallel()
	base := object{"l": []any{object{"n": "a", "v": 0}}, "m": object{"k": 1, "l": []any{0}}, "s": "x"}
	overlays := map[string]object{
		"append":      {"l": []any{object{"n": "b"}}},
		"replace":     {"l": spec.Tuple{object{"n": "c"}}},
		"put":         {Put("l"): []any{object{"n": "d"}}},
		"delete":      {Del("l"): nil},
		"join":        {Join("l", "n"): []any{object{"n": "a", "v": 1}, object{"n": "d", "v": 2}}},
		"map":         {"m": object{"k": 2, "l": []any{1}, "new": object{Put("z"): 1}}},
		"map put":     {"m": object{Put("l"): []any{3}}},
		"map replace": {Put("m"): object{"other": 1}},
		"map delete":  {Del("m"): nil},
		"scalar":      {"s": "y", "t": nil},
		"scalar del":  {Del("s"): nil},
		"nothing":     {},
	}
	for firstName, first := range overlays {
		for secondName, second := range overlays {
			if firstName == "join" && (secondName == "append" || secondName == "replace") {
				continue // a plain field comes before a join, see opKind
			}
			if firstName == "put" && (secondName == "append" || secondName == "replace") ||
				(firstName == "map replace" || firstName == "map put") && (secondName == "map" || secondName == "map put") {
				continue // the later overrides, see TestLaterOfPutAndPlainWins
			}
			t.Run(firstName+", "+secondName, func(t *testing.T) {
				t.Parallel()
				checkCompose(t, base, first, second)
			})
		}
	}
}

func checkCompose(t *testing.T, base, first, second object) {
	t.Helper()
	step, err := Apply(base, first)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Apply(step, second)
	if err != nil {
		t.Fatal(err)
	}
	both, err := Compose(first, second)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Apply(base, both); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v applied: got %v, %v, want %v", both, got, err, want)
	}
}

func TestLaterOfPutAndPlainWins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ first, second, want object }{
		{object{Put("tags"): []any{1}}, object{"tags": []any{2}}, object{"tags": []any{2}}},
		{object{"tags": []any{1}}, object{Put("tags"): []any{2}}, object{Put("tags"): []any{2}}},
		{object{Put("m"): object{"a": 1}}, object{"m": object{"b": 2}}, object{"m": object{"b": 2}}},
		{object{Put("tags"): []any{1}}, object{"tags": spec.Tuple{2}}, object{"tags": spec.Tuple{2}}},
		{object{"spec": object{Put("s"): "x"}}, object{"spec": object{"s": "y"}}, object{"spec": object{"s": "y"}}},
		{object{Del("tags"): nil}, object{"tags": []any{2}}, object{Put("tags"): []any{2}}},
	} {
		if got, err := Compose(c.first, c.second); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v, then %v: got %v, %v, want %v", c.first, c.second, got, err, c.want)
		}
	}
	for key, want := range map[string]string{"a": Put("a"), Put("a"): "a", Del("a"): "", Join("a", "n"): "", "__join__:bad": ""} {
		if got := Replaced(key); got != want {
			t.Errorf("Replaced(%q): got %q, want %q", key, got, want)
		}
	}
}

// The overlays of the golden dry run custom_overlay_ops, which sets two of them.
func TestComposeGolden(t *testing.T) {
	t.Parallel()
	first := object{"spec": object{
		Put("volumes"):             []any{object{"name": "only"}},
		Join("containers", "name"): []any{object{"name": "w-0"}},
		Del("nodeSelector"):        nil,
		"tolerations":              []any{object{"key": "a"}},
	}}
	second := object{"spec": object{"tolerations": []any{object{"key": "b"}}}}
	want := object{"spec": object{
		"__put__:volumes":          []any{object{"name": "only"}},
		"__join__:containers:name": []any{object{"name": "w-0"}},
		"__del__:nodeSelector":     nil,
		"tolerations":              []any{object{"key": "a"}, object{"key": "b"}},
	}}
	got, err := Compose(first, second)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if n := len(first["spec"].(object)["tolerations"].([]any)); n != 1 {
		t.Errorf("first overlay: got %d tolerations, want it unchanged", n)
	}
}

// FuzzApply checks that any two JSON objects merge without a panic and without changes of the
// arguments, always with the same result.
func FuzzApply(f *testing.F) {
	f.Add(`{"a":[1]}`, `{"a":[2],"__put__:b":{"c":1}}`)
	f.Add(`{"c":[{"n":1}]}`, `{"__join__:c:n":[{"n":1,"x":2}],"__del__:d":null}`)
	f.Add(`{}`, `{"__join__:c":[]}`)
	f.Add(`{"a":{"b":{"c":1}}}`, `{"a":{"b":{"__del__:c":0}}}`)
	f.Fuzz(func(t *testing.T, baseText, overText string) {
		var base, over object
		if json.Unmarshal([]byte(baseText), &base) != nil || json.Unmarshal([]byte(overText), &over) != nil {
			return
		}
		before := [2]any{clone(base), clone(over)}
		got, err := Apply(base, over)
		again, errAgain := Apply(base, over)
		if !reflect.DeepEqual(got, again) || (err == nil) != (errAgain == nil) {
			t.Errorf("got two results: %v, %v and %v, %v, want the same", got, err, again, errAgain)
		}
		if _, err := Compose(base, over); err != nil && err.Error() == "" {
			t.Error("got an empty error, want a text")
		}
		if base != nil && over != nil && !reflect.DeepEqual(before, [2]any{base, over}) {
			t.Errorf("got changed arguments %v, %v, want them unchanged", base, over)
		}
	})
}

// FuzzCompose checks that the composition of two overlays can be applied, that composing does not
// change them, and that no field has both a plain value and a Put.
func FuzzCompose(f *testing.F) {
	f.Add(`{"__put__:tags":[1]}`, `{"tags":[2]}`)
	f.Add(`{"tags":[1]}`, `{"__put__:tags":[2],"__del__:x":null}`)
	f.Add(`{"a":{"__join__:c:n":[{"n":1}]}}`, `{"a":{"__join__:c:n":[{"n":1,"x":2}],"c":[1]}}`)
	f.Add(`{"__del__:a":null}`, `{"a":{"b":1}}`)
	f.Fuzz(func(t *testing.T, firstText, secondText string) {
		var first, second object
		if json.Unmarshal([]byte(firstText), &first) != nil || json.Unmarshal([]byte(secondText), &second) != nil {
			return
		}
		before := [2]any{clone(first), clone(second)}
		both, err := Compose(first, second)
		if first != nil && second != nil && !reflect.DeepEqual(before, [2]any{first, second}) {
			t.Fatalf("got changed arguments %v, %v, want them unchanged", first, second)
		}
		if err != nil {
			return
		}
		for key := range second {
			_, before := first[Replaced(key)]
			_, after := second[Replaced(key)]
			if _, left := both[Replaced(key)]; left && before && !after {
				t.Errorf("%v, then %v: got %v, want no %q besides the later %q", first, second, both, Replaced(key), key)
			}
		}
		got, err := Apply(object{}, both)
		again, errAgain := Apply(object{}, both)
		if !reflect.DeepEqual(got, again) || (err == nil) != (errAgain == nil) {
			t.Errorf("got two results: %v, %v and %v, %v, want the same", got, err, again, errAgain)
		}
	})
}

// TestJoinedOperations: an item of a join may have operations on its own fields.
func TestJoinedOperations(t *testing.T) {
	t.Parallel()
	variable := func(name, value string) map[string]any { return map[string]any{"name": name, "value": value} }
	change := func(vars ...any) map[string]any {
		return map[string]any{Join("c", "name"): []any{map[string]any{"name": "m", Join("env", "name"): vars, Del("old"): nil}}}
	}
	base := map[string]any{"c": []any{map[string]any{"name": "m", "env": []any{variable("A", "1"), variable("B", "1")}, "old": 1}}}
	both, err := Compose(change(variable("B", "2")), change(variable("C", "3")))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Apply(base, both)
	want := map[string]any{"c": []any{map[string]any{"name": "m", "env": []any{variable("A", "1"), variable("B", "2"), variable("C", "3")}}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

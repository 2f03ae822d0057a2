package component

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

func TestParseType(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want Type
	}{
		{"str", Type{Kind: String}},
		{" int ", Type{Kind: Int}},
		{"float", Type{Kind: Float}},
		{"bool", Type{Kind: Bool}},
		{"list", Type{Kind: List, Elem: String}},
		{"List", Type{Kind: List, Elem: String}},
		{"dict", Type{Kind: Dict, Key: String, Elem: String}},
		{"list[int]", Type{Kind: List, Elem: Int}},
		{"List[ float ]", Type{Kind: List, Elem: Float}},
		{"Dict[str, str]", Type{Kind: Dict, Key: String, Elem: String}},
		{"dict[int,bool]", Type{Kind: Dict, Key: Int, Elem: Bool}},
		{"Optional[int]", Type{Kind: Int, Optional: true}},
		{"optional[Dict[str, int]]", Type{Kind: Dict, Key: String, Elem: Int, Optional: true}},
		{"int | None", Type{Kind: Int, Optional: true}},
		{"None|list[str]", Type{Kind: List, Elem: String, Optional: true}},
		{"str, optional", Type{Kind: String, Optional: true}},
		{"dict[str, int], optional", Type{Kind: Dict, Key: String, Elem: Int, Optional: true}},
		{"optional", Type{Optional: true}},
		{"int?", Type{Kind: Int, Optional: true}},
		{"list[int]?", Type{Kind: List, Elem: Int, Optional: true}},
		{`enum("a", "b c")`, Type{Kind: Enum, Choices: []string{"a", "b c"}}},
		{`Literal['a', "b"]`, Type{Kind: Enum, Choices: []string{"a", "b"}}},
		{`enum("(")?`, Type{Kind: Enum, Choices: []string{"("}, Optional: true}},
		{`list[enum("a", "b")]`, Type{Kind: List, Elem: Enum, Choices: []string{"a", "b"}}},
		{`dict[str, enum("a")]`, Type{Kind: Dict, Key: String, Elem: Enum, Choices: []string{"a"}}},
		{"duration", Type{Kind: Duration}},
		{"dict[str, duration]", Type{Kind: Dict, Key: String, Elem: Duration}},
		{"bytesize | None", Type{Kind: ByteSize, Optional: true}},
		{"list[path]", Type{Kind: List, Elem: Path}},
		{"optional[resource]", Type{Kind: Resource, Optional: true}},
	}
	for _, test := range tests {
		got, err := ParseType(test.text)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("ParseType(%q) = %+v, %v, want %+v", test.text, got, err, test.want)
		}
	}
}

func TestParseTypeRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"string", "Did you mean str?"},
		{"integer", "Did you mean int?"},
		{"boolean", "Did you mean bool?"},
		{"in MB", "a type is one of"},
		{"list[list[str]]", "a list or dict cannot contain"},
		{"list[str", "missing ] at the end"},
		{"dict[str]", "key type and a value type"},
		{"set[str]", "a type is one of"},
		{"int | str", "only alternative allowed is None"},
		{"None", "other than None"},
		{"Optional[]", "a type is one of"},
		{"enum", `as in enum("a", "b")`},
		{"enum()", "quoted strings"},
		{"enum(a, b)", "quoted strings"},
		{`enum("")`, "quoted strings"},
		{`enum("", "fast")`, `value 1 of the enum, "", is empty (for None, write ? after the enum)`},
		{`enum("fast", '')`, "value 2 of the enum, '', is empty"},
		{`enum("a", b)`, "value 2 of the enum, b, is not in quotes"},
		{`enum("a,b")`, `"a,b", has a comma: values are quoted strings without commas`},
		{`enum("a", "a")`, "twice"},
		{`enum("a"`, "missing ) at the end"},
		{`enum("a`, "quoted strings"},
		{"dict[path, int]", "the keys of a dict must be"},
		{"list[int?]", "a list or dict cannot contain"},
		{"int str", "after int"},
		{"int, str", "after int"},
		{"durations", "Did you mean duration?"},
		{"size", "a type is one of"},
		{"int?!", `unexpected "!"`},
	}
	for _, test := range tests {
		_, err := ParseType(test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), strconv.Quote(test.text)) {
			t.Errorf("ParseType(%q): %v, want %q", test.text, err, test.want)
		}
	}
}

// TestTypeIsReadBack checks that the text of a type parses to the same type.
func TestTypeIsReadBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"str", "list[duration]", "dict[int, bytesize]", `enum("a", "b")`, `list[enum("x")]`, "resource", "path"} {
		first, err := ParseType(text)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseType(first.String())
		if err != nil || !reflect.DeepEqual(first, again) || first.String() != text {
			t.Errorf("%s: got %s, read again %+v, %v, want the same", text, first, again, err)
		}
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, value, want string }{
		{"str", `"a"`, ""},
		{"str", `None`, ""},
		{"str", `3`, "3 is of type int, not str"},
		{"int", `3`, ""},
		{"int", `3.0`, "not int"},
		{"int", `"3"`, "not an int"},
		{"float", `3`, ""},
		{"float", `True`, "not float"},
		{"bool", `True`, ""},
		{"bool", `0`, "not bool"},
		{"list[int]", `[1, 2]`, ""},
		{"list[int]", `(1,)`, ""},
		{"list[int]", `[1, "a"]`, "element 1"},
		{"list[int]", `[None]`, "element 0"},
		{"list[str]", `"a"`, "not a list"},
		{"dict[str, int]", `{"a": 1}`, ""},
		{"dict[str, int]", `{"a": "b"}`, `the value of`},
		{"dict[str, int]", `{1: 1}`, "key 1"},
		{"dict[str, int]", `[]`, "not dict"},
		{`enum("a", "b")`, `"b"`, ""},
		{`enum("a", "b")`, `"c"`, `"c" is not one of a, b`},
		{`enum("a", "b")`, `1`, "1 is not one of a, b"},
		{"duration", `90`, ""},
		{"duration", `0.5`, ""},
		{"duration", `-1`, "not duration"},
		{"duration", `"10m"`, "a duration is a number of seconds: write 600"},
		{"duration", `"soon"`, "not a duration"},
		{"bytesize", `1 << 30`, ""},
		{"bytesize", `1.5`, "not bytesize"},
		{"bytesize", `"2K"`, "a number of bytes: write 2048"},
		{"path", `"/a"`, ""},
		{"resource", `"whatever"`, ""}, // the names are not known here
	} {
		kind, err := ParseType(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		v, err := starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{}, "", c.value, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = kind.Check(v)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.kind, c.value, err, c.want)
		}
	}
}

// TestParamsCheckDefaults checks that a default which is not a value of its type, such as "10m" for
// a number of seconds, is found before anything runs.
func TestParamsCheckDefaults(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		`def f(wait = "10m"):
    """F.

    Args:
        wait (duration): how long
    """
`: `c.star:1: component f: argument wait: its default does not fit its type: "10m" is a string, but a duration is a number of seconds: write 600`,
		`def f(mode = "slo"):
    """F.

    Args:
        mode (enum("fast", "slow")): how
    """
`: `"slo" is not one of fast, slow. Did you mean slow?`,
		`def f(h = "gpu.smal"):
    """F.

    Args:
        h (resource): on what
    """
`: "Did you mean `gpu.small`?",
	} {
		_, _, err := define(t, doc)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %q", doc, err, want)
		}
	}
}

// TestKindsAreComplete checks each row of the table: a missing part would otherwise show only where
// it is used.
func TestKindsAreComplete(t *testing.T) {
	t.Parallel()
	for k := String; int(k) < len(kinds); k++ {
		row := kinds[k]
		got, err := ParseType(strings.NewReplacer(", T?", "", "T", "str").Replace(forms()[k]))
		if err != nil || got.Kind != k {
			t.Errorf("%s is written %q: got %v, %v, want the kind itself", row.name, forms()[k], got.Kind, err)
		}
		if row.show == nil || (Type{Kind: k}).isCompound() {
			continue
		}
		if first, second := got.examples(); first == "" || first == second {
			t.Errorf("%s: got examples %q and %q, want two", row.name, first, second)
		}
		first, _ := got.examples()
		v, err := got.parseText(first)
		if err != nil || got.Check(v) != nil {
			t.Errorf("%s: got %v of %q, %v, want a value", row.name, v, first, err)
			continue
		}
		if again, err := got.parseText(got.show(v)); err != nil || again.String() != v.String() {
			t.Errorf("%s: got %v of %q, %v, want %v", row.name, again, got.show(v), err, v)
		}
	}
}

// TestMessagesAreBounded checks that messages stay short with many choices and large values.
func TestMessagesAreBounded(t *testing.T) {
	t.Parallel()
	names := make([]string, 50000)
	for i := range names {
		names[i] = fmt.Sprintf("%q", fmt.Sprintf("choice%d", i))
	}
	list := "enum(" + strings.Join(names, ", ") + ")"
	enum, err := ParseType(list)
	if err != nil {
		t.Fatal(err)
	}
	shared := starlark.Value(starlark.NewList(nil))
	for range 60 {
		shared = starlark.NewList([]starlark.Value{shared, shared}) // its text has 2^60 brackets
	}
	dict := starlark.NewDict(1)
	if err := dict.SetKey(starlark.String("k"), shared); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"default":   enum.Check(starlark.String("other")),
		"list":      enum.list().Check(starlark.String("other")),
		"value":     second(enum.parseText("other")),
		"type":      second(ParseType(list + "x")),
		"no choice": Type{Kind: Int}.Check(shared),
		"element":   Type{Kind: List, Elem: Int}.Check(starlark.NewList([]starlark.Value{shared})),
		"dict":      Type{Kind: Dict, Key: String, Elem: Int}.Check(dict),
		"tuple":     Type{Kind: String}.Check(starlark.Tuple{shared}),
	} {
		if err == nil || len(err.Error()) > 4000 {
			t.Errorf("%s: got %.100v, want an error of less than 4,000 bytes", what, err)
		}
	}
	if got := (Type{Kind: List, Elem: List}).show(shared); len(got) > 2*maxShown {
		t.Errorf("got %d bytes for a list of lists, want at most %d", len(got), 2*maxShown)
	}
}

func second[T any](_ T, err error) error { return err }

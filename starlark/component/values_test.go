package component

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

func TestParseText(t *testing.T) {
	t.Parallel()
	tests := []struct{ kind, text, want string }{
		{"str", "", `""`},
		{"str", " a ", `" a "`},
		{"str", "None", `"None"`},
		{"int", "3", "3"},
		{"int", " -1_000 ", "-1000"},
		{"int", "007", "7"},
		{"int", "123456789012345678901234567890", "123456789012345678901234567890"},
		{"float", "2", "2.0"},
		{"float", "-.5", "-0.5"},
		{"float", "1_0e-1", "1.0"},
		{"float", "1e999", "+inf"},
		{"float", "Infinity", "+inf"},
		{"bool", "TRUE", "True"},
		{"bool", "1", "True"},
		{"bool", "yes", "True"},
		{"bool", "On", "True"},
		{"bool", "false", "False"},
		{"bool", "0", "False"},
		{"bool", "no", "False"},
		{"bool", "OFF", "False"},
		{"list", "a, b,c", `["a", "b", "c"]`},
		{"list", "", "None"},
		{"list", " ", "None"},
		{"list[int]", "1,2, 3", "[1, 2, 3]"},
		{"list[bool]", "1,no", "[True, False]"},
		{"dict", "k=v,k2=v2,v3;x=y", `{"k": "v", "k2": "v2,v3", "x": "y"}`},
		{"dict", "A='x=y'", `{"A": "x=y"}`},
		{"dict", "", "None"},
		{"dict[str, int]", "a=1;b=2", `{"a": 1, "b": 2}`},
		{"dict[int, float]", "1=2", `{1: 2.0}`},
		{"Optional[int]", "7", "7"},
		{`enum("a", "b")`, "b", `"b"`},
		{`list[enum("a", "b")]`, "b, a", `["b", "a"]`},
		{"duration", "90", "90"},
		{"duration", " 1h30m ", "5400"},
		{"duration", "500ms", "0.5"},
		{"duration", "1.5d", "129600"},
		{"bytesize", "16GiB", "17179869184"},
		{"bytesize", "10GB", "10000000000"},
		{"bytesize", "1K", "1024"},
		{"list[bytesize]", "1K,2", "[1024, 2]"},
		{"dict[str, duration]", "a=1m,b=2", `{"a": 60, "b": 2}`},
		{"path", "~/a b", `"~/a b"`},
		{"resource", "gpu.small", `"gpu.small"`},
	}
	for _, test := range tests {
		kind, err := ParseType(test.kind)
		if err != nil {
			t.Fatal(err)
		}
		got, err := kind.parseText(test.text)
		if err != nil || got.String() != test.want {
			t.Errorf("%s %q = %v, %v, want %s", test.kind, test.text, got, err, test.want)
		}
	}
}

// TestListVectors compares with TorchX, where "" is an empty list as a value
// and None as an argument.
func TestListVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/csv_to_list.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Rows []struct {
			In, Out []string
		}
	}
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	for _, row := range table.Rows {
		v, err := Type{Kind: List, Elem: String}.parseText(row.In[0])
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if list, ok := v.(*starlark.List); ok {
			for e := range list.Elements() {
				got = append(got, string(e.(starlark.String)))
			}
		}
		if strings.Join(got, "|") != strings.Join(row.Out, "|") || len(got) != len(row.Out) {
			t.Errorf("%q = %q, want %q", row.In[0], got, row.Out)
		}
	}
}

func TestParseTextRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ kind, text, want string }{
		{"int", "", `"" is not an int (a whole number such as 3)`},
		{"int", "1.5", `"1.5" is not an int`},
		{"int", "0x10", "is not an int"},
		{"int", "1__0", "is not an int"},
		{"int", strings.Repeat("9", 5000), "is not an int"},
		{"float", "a", `"a" is not a float (a number such as 1.5)`},
		{"float", "0x1p-2", "is not a float"},
		{"float", ".", "is not a float"},
		{"bool", "maybe", `"maybe" is not a bool (true or false)`},
		{"bool", "", "is not a bool"},
		{"list[int]", "1,x", `"x" is not an int (a whole number such as 3), in "1,x"`},
		{"dict[str, int]", "a=1,b=x", `the value of b, "x" is not an int`},
		{"dict[int, str]", "x=1", `key "x" is not an int`},
		{"dict", "A=x=y", `A='x=y'`},
		{"dict", "foo", "KEY=VALUE"},
		{`enum("fast", "slow")`, "fats", `"fats" is not one of fast, slow. Did you mean fast?`},
		{`enum("fast", "slow")`, "", `"" is not one of fast, slow`},
		{`list[enum("fast", "slow")]`, "fast,x", "separated by commas such as fast,slow"},
		{"duration", "10x", `"10x" is not a duration (seconds, or a time such as 90s, 1h30m or 2d)`},
		{"duration", "-5m", "is not a duration"},
		{"duration", "1e99", "is not a duration"},
		{"bytesize", "lots", `"lots" is not a bytesize (bytes, or a size such as 512MiB or 10G)`},
		{"bytesize", "-1", "is not a bytesize"},
		{"dict[str, int]", "a=x", "pairs of types str and int separated by commas such as a=3"},
	}
	for _, test := range tests {
		kind, err := ParseType(test.kind)
		if err != nil {
			t.Fatal(err)
		}
		v, err := kind.parseText(test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 400 {
			t.Errorf("%s %.20q = %v, error %v, want %q", test.kind, test.text, v, err, test.want)
		}
	}
}

func TestFromJSON(t *testing.T) {
	t.Parallel()
	tests := []struct{ kind, value, want string }{
		{"str", `"x"`, `"x"`},
		{"str", `7`, `"7"`},
		{"int", `3`, "3"},
		{"int", `"3"`, "3"},
		{"float", `3`, "3.0"},
		{"float", `1e-3`, "0.001"},
		{"bool", `true`, "True"},
		{"bool", `"yes"`, "True"},
		{"list", `["a,b", " c "]`, `["a,b", " c "]`},
		{"list[int]", `[1, "2"]`, "[1, 2]"},
		{"list[int]", `"1,2"`, "[1, 2]"},
		{"list", `[]`, "[]"},
		{"dict", `{"b": "x=y", "a": 1}`, `{"a": "1", "b": "x=y"}`},
		{"dict[str, int]", `"a=1"`, `{"a": 1}`},
		{"duration", `90`, "90"},
		{"duration", `0.5`, "0.5"},
		{"duration", `"1m"`, "60"},
		{"bytesize", `1024`, "1024"},
		{"bytesize", `"1K"`, "1024"},
		{`enum("a")`, `"a"`, `"a"`},
		{`enum("a")`, `1`, ""},
		{"duration", `-1`, ""},
		{"duration", `true`, ""},
		{"path", `1`, ""},
		{"int", `"x"`, ""},
		{"int", `1.5`, ""},
		{"int", `true`, ""},
		{"bool", `1`, ""},
		{"str", `true`, ""},
		{"str", `["x"]`, ""},
		{"list", `{}`, ""},
		{"list", `[["x"]]`, ""},
		{"dict", `[]`, ""},
		{"dict[str, int]", `{"a": "x"}`, ""},
	}
	for _, test := range tests {
		kind, err := ParseType(test.kind)
		if err != nil {
			t.Fatal(err)
		}
		var decoded any
		if err := json.Unmarshal([]byte(test.value), &decoded); err != nil {
			t.Fatal(err)
		}
		numbers := json.NewDecoder(strings.NewReader(test.value))
		numbers.UseNumber()
		var exact any
		if err := numbers.Decode(&exact); err != nil {
			t.Fatal(err)
		}
		for _, v := range []any{decoded, exact} {
			got, err := kind.fromJSON(v)
			if err != nil && test.want == "" {
				continue
			}
			if err != nil || got.String() != test.want {
				t.Errorf("%s %s = %v, %v, want %q", test.kind, test.value, got, err, test.want)
			}
		}
	}
}

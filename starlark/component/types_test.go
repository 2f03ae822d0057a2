package component

import (
	"strings"
	"testing"
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
	}
	for _, test := range tests {
		got, err := parseType(test.text)
		if err != nil || got != test.want {
			t.Errorf("parseType(%q) = %+v, %v, want %+v", test.text, got, err, test.want)
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
		{"list[list[str]]", "inside a list or dict"},
		{"list[str", "closing ]"},
		{"dict[str]", "key type and a value type"},
		{"set[str]", "a type is one of"},
		{"int | str", "only None"},
		{"None", "nothing but None"},
		{"Optional[]", "a type is one of"},
	}
	for _, test := range tests {
		_, err := parseType(test.text)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("parseType(%q): %v, want %q", test.text, err, test.want)
		}
	}
}

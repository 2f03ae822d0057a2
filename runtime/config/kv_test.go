package config

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestVectors compares with TorchX's results.
func TestVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/kv_string_to_map.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Rows []struct {
			In    []string
			Out   map[string]string
			Error string
		}
	}
	if err := json.Unmarshal(data, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) == 0 {
		t.Fatal("got no rows, want some")
	}
	for _, row := range table.Rows {
		pairs, err := ParsePairs(row.In[0])
		if (err != nil) != (row.Error != "") {
			t.Errorf("ParsePairs(%q): got error %v, want TorchX's %q", row.In[0], err, row.Error)
			continue
		}
		got := map[string]string{}
		for _, p := range pairs {
			got[p.Key] = p.Value
		}
		if err == nil && !reflect.DeepEqual(got, row.Out) {
			t.Errorf("ParsePairs(%q): got %q, want %q", row.In[0], got, row.Out)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []Pair
	}{
		{"  ", nil},
		{"B=2,A=1", []Pair{{"B", "2", false}, {"A", "1", false}}},
		{"A=1,B=2,A=3", []Pair{{"A", "3", false}, {"B", "2", false}}},
		{"A=''", []Pair{{"A", "", true}}},
		{"A='',B=2", []Pair{{"A", "", true}, {"B", "2", false}}},
		{`A='it\'s',B=1`, []Pair{{"A", `it\'s`, true}, {"B", "1", false}}},
		{`A="x"'y',B=1`, []Pair{{"A", `"x"'y'`, false}, {"B", "1", false}}},
		{`A= "a,b" ;B=1`, []Pair{{"A", "a,b", true}, {"B", "1", false}}},
		{"A=\u00a0x,y,B=1", []Pair{{"A", "x,y", false}, {"B", "1", false}}},
		{"A=1,\u00a0B\u00a0=2", []Pair{{"A", "1", false}, {"B", "2", false}}},
		{"A=é,ü;B=ö", []Pair{{"A", "é,ü", false}, {"B", "ö", false}}},
		{"timeout=600,join_timeout=600", []Pair{{"timeout", "600", false}, {"join_timeout", "600", false}}},
	}
	for _, test := range tests {
		got, err := ParsePairs(test.text)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("ParsePairs(%q): got %v, %v, want %v", test.text, got, err, test.want)
		}
	}
}

func TestErrorsShowTheFormat(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"foo", "KEY=VALUE"},
		{"=", "KEY=VALUE"},
		{"=A", "KEY=VALUE"},
		{"FOO=", `"FOO" has no value`},
		{"A=1,B=", `"B" has no value (for an empty value, write "B=''")`},
		{"A=,B=2", `"A" has no value`},
		{"A=1,=2", "no key"},
		{"A=x=y", `"A='x=y'"`},
		{"A=x=y,B=2", `"A='x=y'"`},
		{"A=1,B=x=y=z", `"B='x=y'"`},
		{"A=aGk=", `"A='aGk='"`},
		{"A=1\nB=2", "quote the value"},
	}
	for _, test := range tests {
		pairs, err := ParsePairs(test.text)
		if err == nil {
			t.Errorf("ParsePairs(%q): got %v, want an error with %q", test.text, pairs, test.want)
			continue
		}
		if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("ParsePairs(%q): got error %q, want one line with %q", test.text, err, test.want)
		}
	}
}

func TestParseIsLinear(t *testing.T) {
	t.Parallel()
	if _, err := ParsePairs("A=" + strings.Repeat(`\"`, 1<<20)); err != nil {
		t.Fatal(err)
	}
}

// FuzzParse checks that nothing panics, that errors are one line, and that pairs without special
// characters are parsed again as they were written.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "A=1", "A=1,B=2", `A="x,y",B='='`, "A==v", "A=1,B=", `A="\"`, "=;=,"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		pairs, err := ParsePairs(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Fatalf("got error %q, want one line", err)
			}
			return
		}
		var parts []string
		for _, p := range pairs {
			if p.Key == "" {
				t.Fatalf("ParsePairs(%q): got an empty key", text)
			}
			if strings.ContainsAny(p.Key+p.Value, "\"'\\=,;") || p.Value == "" ||
				p.Value != strings.TrimSpace(p.Value) {
				return
			}
			parts = append(parts, p.Key+"="+p.Value)
		}
		again, err := ParsePairs(strings.Join(parts, ","))
		if err != nil || len(again) != len(pairs) {
			t.Fatalf("ParsePairs(%q): got %v, parsed again %v, %v", text, pairs, again, err)
		}
		for i := range pairs {
			if again[i].Key != pairs[i].Key || again[i].Value != pairs[i].Value {
				t.Fatalf("ParsePairs(%q): got %v, parsed again %v", text, pairs, again)
			}
		}
	})
}

package backend

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
)

// vectorOptions are the options that the test vectors were generated with.
var vectorOptions = []Option{
	{Key: "FOO", Risk: Harmless, Type: TypeList, Default: []string{"a"}},
	{Key: "BAR", Risk: Harmless, Type: TypeStr, Required: true},
	{Key: "num", Risk: Harmless, Type: TypeInt, Default: 1},
	{Key: "flt", Risk: Harmless, Type: TypeFloat, Default: .5},
	{Key: "flag", Risk: Harmless, Type: TypeBool, Default: false},
	{Key: "mp", Risk: Harmless, Type: TypeMap},
	{Key: "snake_case", Risk: Harmless, Type: TypeStr},
}

type row struct {
	In        []json.RawMessage
	Out       json.RawMessage
	ErrorType string `json:"error_type"`
}

func vectors(t *testing.T, name string) []row {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Rows []row }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Rows) == 0 {
		t.Fatalf("%s: got no rows", name)
	}
	return file.Rows
}

func (r row) text(t *testing.T) string {
	t.Helper()
	var s string
	if err := json.Unmarshal(r.In[0], &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// sameJSON compares by JSON form, in which 1 and 1.0 are equal.
func sameJSON(t *testing.T, got any, want json.RawMessage) bool {
	t.Helper()
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if err := errors.Join(json.Unmarshal(data, &a), json.Unmarshal(want, &b)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(a, b)
}

func TestCfgLayerVectors(t *testing.T) {
	t.Parallel()
	for _, r := range vectors(t, "kv_string_to_map") {
		pairs, err := CfgLayer(r.text(t))
		if (err != nil) != (r.ErrorType != "") {
			t.Errorf("%q: got error %v, want %q", r.text(t), err, r.ErrorType)
			continue
		}
		if err != nil {
			if !errors.Is(err, ErrInvalidOption) {
				t.Errorf("%q: got %v, want ErrInvalidOption", r.text(t), err)
			}
			continue
		}
		got := map[string]string{}
		for _, p := range pairs {
			got[p.Key] = p.Text
		}
		if r.text(t) == "A=1,B=2," { // TorchX keeps the comma: "2,"
			r.Out = json.RawMessage(`{"A":"1","B":"2"}`)
		}
		if !sameJSON(t, got, r.Out) {
			t.Errorf("%q: got %v, want %s", r.text(t), got, r.Out)
		}
	}
}

func TestStrayDelimiters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Layer{
		"a=1,":            {{Key: "a", Text: "1"}},
		"a=1 , ; ,b=2;;":  {{Key: "a", Text: "1"}, {Key: "b", Text: "2"}},
		",a=1":            {{Key: "a", Text: "1"}},
		"a='x',,b=\"y\",": {{Key: "a", Text: "x", Quoted: true}, {Key: "b", Text: "y", Quoted: true}},
		"a='x,',b='1,'":   {{Key: "a", Text: "x,", Quoted: true}, {Key: "b", Text: "1,", Quoted: true}},
		"a=1;2,":          {{Key: "a", Text: "1;2"}},
		"a=,":             {{Key: "a", Text: ","}},
	} {
		for i := range want {
			want[i].Origin, want[i].Packed = "-cfg", i == len(want)-1
		}
		if got, err := CfgLayer(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
}

// The vectors hold the result of TorchX's cfg_from_str, before defaults. So this test checks
// only the given keys and does not require BAR.
func TestCfgVectors(t *testing.T) {
	t.Parallel()
	opts := append([]Option{}, vectorOptions...)
	opts[1].Required = false
	for _, r := range vectors(t, "runopts_cfg_from_str") {
		layer, err := CfgLayer(r.text(t))
		var cfg Config
		if err == nil {
			cfg, _, err = Resolve(opts, layer)
		}
		if r.ErrorType != "" {
			if !errors.Is(err, ErrInvalidOption) {
				t.Errorf("%q: got %v, want ErrInvalidOption", r.text(t), err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: got %v, want nil", r.text(t), err)
			continue
		}
		for key := range cfg {
			if _, ok := Find(key, layer); !ok {
				delete(cfg, key)
			}
		}
		if !sameJSON(t, cfg, r.Out) {
			t.Errorf("%q: got %v, want %s", r.text(t), cfg, r.Out)
		}
	}
}

func TestResolveVectors(t *testing.T) {
	t.Parallel()
	for _, r := range vectors(t, "runopts_resolve") {
		d := json.NewDecoder(bytes.NewReader(r.In[0]))
		d.UseNumber()
		var object map[string]any
		if err := d.Decode(&object); err != nil {
			t.Fatal(err)
		}
		cfg, warnings, err := Resolve(vectorOptions, JSONLayer(object, "test"))
		if r.ErrorType != "" {
			if !errors.Is(err, ErrInvalidOption) {
				t.Errorf("%s: got %v, want ErrInvalidOption", r.In[0], err)
			}
			continue
		}
		want := r.Out
		if _, ok := object["unknown"]; ok {
			// TorchX keeps unknown keys; torchx warns and ignores them.
			want = bytes.Replace(want, []byte(`"unknown": 1,`), nil, 1)
			if len(warnings) != 1 || !strings.Contains(warnings[0], "unknown option unknown") {
				t.Errorf("got warnings %q, want one about unknown", warnings)
			}
		}
		// TorchX keeps true for an int; torchx converts it to the option's type: 1.
		want = bytes.Replace(want, []byte(`"num": true`), []byte(`"num": 1`), 1)
		if err != nil || !sameJSON(t, cfg, want) {
			t.Errorf("%s: got %v, %v, want %s", r.In[0], cfg, err, want)
		}
	}
}

func TestNameVectors(t *testing.T) {
	t.Parallel()
	for name, fn := range map[string]func(string) any{
		"camel_to_snake": func(s string) any { return CamelToSnake(s) },
		"csv_to_list":    func(s string) any { return SplitCSV(s) },
	} {
		for _, r := range vectors(t, name) {
			if got := fn(r.text(t)); !sameJSON(t, got, r.Out) {
				t.Errorf("%s(%q): got %q, want %s", name, r.text(t), got, r.Out)
			}
		}
	}
}

// A word starts with a capital after a lower-case letter or digit, nowhere else.
func TestCamelToSnake(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "", "A": "a", "HTTPServer": "httpserver", "reservedMemMB": "reserved_mem_mb", "logDir": "log_dir", "aBC": "a_bc", "aBcD": "a_bc_d",
		"a1B2": "a1_b2", "_A": "_a", "log_Dir": "log_dir", "mail-Type": "mail-type", "LOG": "log", "éA": "éa",
	} {
		if got := CamelToSnake(name); got != want {
			t.Errorf("CamelToSnake(%q): got %q, want %q", name, got, want)
		}
	}
}

func cfgLayer(t *testing.T, text string) Layer {
	t.Helper()
	layer, err := CfgLayer(text)
	if err != nil {
		t.Fatal(err)
	}
	return layer
}

func TestResolveErrors(t *testing.T) {
	t.Parallel()
	opts := []Option{
		{Key: "n", Type: TypeInt},
		{Key: "s", Type: TypeStr},
		{Key: "f", Type: TypeFloat},
		{Key: "b", Type: TypeBool},
		{Key: "m", Type: TypeMap},
		{Key: "kind", Type: TypeStr, Choices: []string{"cwd", "dir"}},
	}
	file := func(key, text string) Layer { return Layer{{Key: key, Text: text, Origin: "/h/.torchxconfig:3"}} }
	tests := []struct {
		name  string
		layer Layer
		want  []string
	}{
		{"int", cfgLayer(t, "n=1.5"), []string{"-cfg", "option n", `"1.5"`, "whole number"}},
		{"huge int", cfgLayer(t, "n=99999999999999999999"), []string{"whole number"}},
		{"float", cfgLayer(t, "f=nan"), []string{"option f", "number"}},
		{"bool", cfgLayer(t, "b=maybe"), []string{`"maybe"`, "true/1/yes/on or false/0/no/off"}},
		{"map without colon", cfgLayer(t, "m=a:1;b"), []string{"option m", `"b"`, "key:value"}},
		{"choice", cfgLayer(t, "kind=dri"), []string{`"dri"`, "one of cwd, dir"}},
		{"piece without =", cfgLayer(t, "s=1,B"), []string{"option s", `"B"`, "s='1,B'"}},
		{"piece without = ;", cfgLayer(t, "s=1;B"), []string{`"B"`}},
		{"placeholder", file("s", "#FIXME:(str) what"), []string{"/h/.torchxconfig:3", "option s", "placeholder"}},
		{"bad file value", file("b", "2"), []string{"/h/.torchxconfig:3: option b", "false/0/no/off"}},
		{"json", JSONLayer(map[string]any{"s": 1.5}, "--stdin"), []string{"--stdin: option s", "1.5 is not a str"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := Resolve(opts, tt.layer)
			if !errors.Is(err, ErrInvalidOption) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v, want one line of ErrInvalidOption", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
		})
	}
}

func TestResolveValues(t *testing.T) {
	t.Parallel()
	opt := func(kind OptionType, def any) Option { return Option{Key: "the_key", Type: kind, Default: def} }
	file := func(text string) Layer { return Layer{{Key: "the_key", Text: text, Origin: "f:1"}} }
	tests := []struct {
		name   string
		opt    Option
		layers []Layer
		want   any
	}{
		{"default", opt(TypeInt, 3), nil, 3},
		{"no default", opt(TypeInt, nil), nil, nil},
		{"cli over file", opt(TypeInt, 3), []Layer{cfgLayer(t, "the_key=1"), file("2")}, 1},
		{"file over alias", opt(TypeInt, 3), []Layer{nil, file("2"), DefaultsLayer(map[string]string{"the_key": "9"}, "local_dir")}, 2},
		{"alias over default", opt(TypeInt, 3), []Layer{nil, DefaultsLayer(map[string]string{"the_key": "9"}, "local_dir")}, 9},
		{"an invalid overridden value is ignored", opt(TypeInt, 3), []Layer{cfgLayer(t, "the_key=1"), file("x")}, 1},
		{"camel", opt(TypeInt, 3), []Layer{cfgLayer(t, "theKey=1")}, 1},
		{"None overrides", opt(TypeInt, 3), []Layer{cfgLayer(t, "the_key=None"), file("2")}, nil},
		{"quoted none", opt(TypeStr, nil), []Layer{cfgLayer(t, "the_key='None'")}, "None"},
		{"quoted comma", opt(TypeStr, nil), []Layer{cfgLayer(t, "the_key='1,B'")}, "1,B"},
		{"comma in a file", opt(TypeStr, nil), []Layer{file("1, B")}, "1, B"},
		{"empty", opt(TypeStr, "x"), []Layer{cfgLayer(t, "the_key=''")}, ""},
		{"list", opt(TypeList, nil), []Layer{cfgLayer(t, "the_key=a, b;;c,")}, []string{"a", "b", "c"}},
		{"empty list", opt(TypeList, nil), []Layer{file("")}, []string{}},
		{"map", opt(TypeMap, nil), []Layer{cfgLayer(t, "the_key=a:1,b : x:y")}, map[string]string{"a": "1", "b": "x:y"}},
		{"python int", opt(TypeInt, nil), []Layer{cfgLayer(t, "the_key=+1_000")}, 1000},
		{"python float", opt(TypeFloat, nil), []Layer{cfgLayer(t, "the_key=1.e3")}, 1000.0},
		{"bool", opt(TypeBool, nil), []Layer{cfgLayer(t, "the_key=OFF")}, false},
		{"json text", opt(TypeBool, nil), []Layer{JSONLayer(map[string]any{"theKey": "on"}, "")}, true},
		{"json list", opt(TypeList, nil), []Layer{JSONLayer(map[string]any{"the_key": []any{"a,b"}}, "")}, []string{"a,b"}},
		{"json map", opt(TypeMap, nil), []Layer{JSONLayer(map[string]any{"the_key": map[string]any{"a": "b"}}, "")}, map[string]string{"a": "b"}},
		{"json float for int", opt(TypeInt, nil), []Layer{JSONLayer(map[string]any{"the_key": 2.0}, "")}, 2},
		{"json null", opt(TypeInt, 3), []Layer{JSONLayer(map[string]any{"the_key": nil}, "")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg, warnings, err := Resolve([]Option{tt.opt}, tt.layers...)
			if err != nil || len(warnings) != 0 {
				t.Fatal(err, warnings)
			}
			if got := cfg["the_key"]; !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %#v, want %#v", got, tt.want)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	opts := []Option{{Key: "log_dir", Type: TypeStr}}
	cfg, warnings, err := Resolve(opts, cfgLayer(t, "log_dri=1,2,zzz=1,HTTPServer=1,reservedMemMB=2,log_dir=a,logDir=b"))
	if err != nil || cfg["log_dir"] != "a" || len(cfg) != 1 {
		t.Fatalf("got %v, %v, want log_dir=a alone", cfg, err)
	}
	want := []string{
		"-cfg: unknown option log_dri is ignored. Did you mean log_dir?",
		"-cfg: unknown option zzz is ignored.",
		"-cfg: unknown option HTTPServer is ignored.",
		"-cfg: unknown option reservedMemMB is ignored.",
		"-cfg: option logDir is ignored: it was already given as log_dir",
	}
	if !reflect.DeepEqual(warnings, want) {
		t.Errorf("got %q, want %q", warnings, want)
	}
}

// TestMisspelled: a misspelled limit must not be ignored.
func TestMisspelled(t *testing.T) {
	t.Parallel()
	opts := []Option{
		{Key: "limits", Type: TypeStr, Protects: true},
		{Key: "fail_fast", Type: TypeBool, Protects: true},
		{Key: "log_max_size", Type: TypeStr, Protects: true},
		{Key: "log_dir", Type: TypeStr},
	}
	for text, want := range map[string]string{
		"limit=auto":                "limits",
		"LIMITS=auto":               "limits",
		"log_dir=x,fail-fast=false": "fail_fast",
		"faiil_fast=false":          "fail_fast",
		"log_max_sise=1M":           "log_max_size",
		"limits=auto":               "",
		"failFast=no":               "",
		"log_dirs=x":                "",
		"bogus=1":                   "",
	} {
		err := Misspelled(opts, DefaultsLayer(nil, ""), cfgLayer(t, text))
		if want == "" && err != nil {
			t.Errorf("%s: got %v, want no error", text, err)
		}
		if want != "" && (!errors.Is(err, ErrInvalidOption) || !strings.HasSuffix(err.Error(), "Did you mean "+want+"?")) {
			t.Errorf("%s: got %v, want an error that names %s", text, err, want)
		}
	}
}

func TestRequired(t *testing.T) {
	t.Parallel()
	opts := []Option{{Key: "queue", Type: TypeStr, Required: true}}
	for _, layer := range []Layer{nil, cfgLayer(t, "queue=None")} {
		_, _, err := Resolve(opts, layer)
		if !errors.Is(err, ErrInvalidOption) || !strings.Contains(err.Error(), "queue=QUEUE") {
			t.Errorf("%v: got %v, want an error with queue=QUEUE", layer, err)
		}
	}
}

func FuzzCfg(f *testing.F) {
	for _, s := range []string{"", "BAR=x,num=2,flag=true,FOO=a;b;c,mp=k:v", "A=1,B", "mp=a", "flt=1e999", `BAR="`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		layer, err := CfgLayer(text)
		if err == nil {
			var cfg Config
			if cfg, _, err = Resolve(vectorOptions, layer); err == nil {
				if err := CheckOptions(given(cfg)); err != nil {
					t.Fatalf("%q: got %v, want values of the right types", text, err)
				}
				return
			}
		}
		if !errors.Is(err, ErrInvalidOption) || strings.ContainsAny(err.Error(), "\n\r") {
			t.Fatalf("%q: got %q, want one line of ErrInvalidOption", text, err)
		}
	})
}

// given makes the values of cfg the defaults of its options, to check their types.
func given(cfg Config) []Option {
	var opts []Option
	for _, o := range vectorOptions {
		o.Required, o.Default = false, cfg[o.Key]
		opts = append(opts, o)
	}
	return opts
}
